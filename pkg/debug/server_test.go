package debug_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/debug"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// loop is a Source.
type loop struct {
	synced bool
	lost   time.Time
}

func (l *loop) Rows() []render.Row {
	row := func(namespace, name string, p status.Phase) render.Row {
		return render.Row{Job: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, Verdict: status.Verdict{Phase: p}}
	}
	return []render.Row{row("a", "etl", status.PhaseRunning), row("b", "etl", status.PhaseFailed), row("b", "other", status.PhaseRunning)}
}
func (l *loop) Synced() bool    { return l.synced }
func (l *loop) Acts() bool      { return true }
func (l *loop) Queued() int     { return 3 }
func (l *loop) Lost() time.Time { return l.lost }

func serve(t *testing.T, source debug.Source) (*debug.Server, func(path, host string) (int, string)) {
	t.Helper()
	server := debug.NewServer(source)
	address, err := server.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	server.Serve()
	t.Cleanup(server.Close)
	return server, func(path, host string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		require.NoError(t, err)
		if host != "" {
			request.Host = host
		}
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer func() { require.NoError(t, answer.Body.Close()) }()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(body)
	}
}

// A web page may let a name of its own point to this machine: only loopback names are answered.
func TestServerAnswersLoopbackOnly(t *testing.T) {
	t.Parallel()
	_, get := serve(t, &loop{synced: true})
	for host, code := range map[string]int{"": 200, "localhost:1": 200, "127.0.0.1": 200, "[::1]:80": 200, "example.com": 403, "127.0.0.1.example.com:80": 403} {
		got, _ := get("/healthz", host)
		require.Equal(t, code, got, host)
	}
	for _, address := range []string{"", ":80", "0.0.0.0:80", "example.com:80", "127.0.0.1", "[::]:80"} {
		require.Error(t, debug.CheckAddress(address), address)
	}
	require.NoError(t, debug.CheckAddress("[::1]:0"))
}

func TestHealthIsThatOfTheLoop(t *testing.T) {
	t.Parallel()
	source := &loop{}
	_, get := serve(t, source)
	code, text := get("/healthz", "")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "not everything was read yet")
	source.synced, source.lost = true, time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	code, text = get("/healthz", "")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "does not answer since 2026-12-01T12:00:00Z")
	source.lost = time.Time{}
	code, _ = get("/healthz", "")
	require.Equal(t, http.StatusOK, code)
}

func TestStatusAndMetrics(t *testing.T) {
	t.Parallel()
	server, get := serve(t, &loop{synced: true})
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	server.Passed(at, time.Second, time.Millisecond, nil)
	server.Passed(at, 2*time.Second, time.Millisecond, errors.New("refused"))
	server.Did(nil)
	for i := range 250 {
		server.Changed(render.WatchEvent{Message: fmt.Sprint(i), Item: render.Item{Name: "etl", Namespace: "b"}})
	}
	_, text := get("/debug/work-status?name=etl&namespace=b", "")
	var answer debug.Status
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	require.Len(t, answer.Items, 1)
	require.Len(t, answer.Changes, 200)
	require.Equal(t, "249", answer.Changes[199].Message)
	require.InDelta(t, 2.0, *answer.Figures.SyncDelaySeconds, 0)
	require.InDelta(t, 0.5, *answer.Figures.SuccessRate, 0)
	require.Equal(t, at, answer.Figures.LastRetry)
	_, text = get("/metrics", "")
	for _, line := range []string{
		`kubectl_work_runs{phase="Running"} 2`, `kubectl_work_passes_total{result="error"} 1`, `kubectl_work_actions_total{result="ok"} 1`, "kubectl_work_queued_passes 3", "kubectl_work_leading 1",
	} {
		require.Contains(t, text, line)
	}
}
