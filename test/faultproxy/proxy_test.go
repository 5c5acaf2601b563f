package faultproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// backend is a server that knows one secret credential, answers every request with its path and keeps count.
type backend struct {
	*httptest.Server
	acted atomic.Int64
	feed  chan string // what a watch sends, one line each; closing it ends the watch
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{feed: make(chan string, 100)}
	b.Server = httptest.NewUnstartedServer(b)
	b.EnableHTTP2 = true
	b.StartTLS()
	t.Cleanup(b.Close)
	return b
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer upstream-secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	b.acted.Add(1)
	if r.URL.Query().Get("watch") != "" && r.Header.Get("Accept-Encoding") != "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	if r.URL.Query().Get("watch") == "" {
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	rc := http.NewResponseController(w)
	for {
		_ = rc.Flush()
		select {
		case line, ok := <-b.feed:
			if !ok {
				return
			}
			_, _ = io.WriteString(w, line+"\n")
		case <-r.Context().Done():
			return
		}
	}
}

func (b *backend) config() *rest.Config {
	cfg := &rest.Config{Host: b.URL, BearerToken: "upstream-secret"}
	cfg.Insecure = true
	return cfg
}

func start(t *testing.T, target *rest.Config, rules ...string) *Proxy {
	t.Helper()
	p, err := New(target)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Close()) })
	for _, text := range rules {
		rule, err := ParseRule(text)
		require.NoError(t, err)
		p.Add(rule)
	}
	return p
}

// client has one HTTP/2 connection to the proxy.
func client(t *testing.T, p *Proxy) *http.Client {
	t.Helper()
	transport, err := rest.TransportFor(&rest.Config{
		Host: p.URL(), BearerToken: p.Token(), TLSClientConfig: rest.TLSClientConfig{CAData: p.CA()},
		Dial: (&net.Dialer{}).DialContext, // a dialer of its own keeps client-go from sharing the connection
	})
	require.NoError(t, err)
	return &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := c.Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func body(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := get(t, c, url)
	require.NoError(t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(data)
}

func TestPassesAnswersOnWithTheTargetsCredentials(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config())
	resp, err := get(t, client(t, p), p.URL()+"/api/v1/pods?limit=5")
	require.NoError(t, err)
	assert.Equal(t, 2, resp.ProtoMajor, "the real server speaks HTTP/2")
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "GET /api/v1/pods", string(data))

	reqs := p.Requests()
	require.Len(t, reqs, 1)
	assert.Equal(t, "1 GET /api/v1/pods?limit=5 200", reqs[0].String())
	assert.Equal(t, 200, reqs[0].Upstream)
	assert.EqualValues(t, len(data), reqs[0].Bytes)
}

func TestStrangersReachNothing(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config())
	c := client(t, p)
	p.Accept("renewed")
	resp, err := get(t, c, p.URL()+"/api")
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	assert.Zero(t, b.acted.Load())
	assert.Equal(t, "GET /api", body(t, client(t, p), p.URL()+"/api"), "the new token is let in")
}

func TestKubeconfigWorksWithATypedClient(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`)
	}))
	t.Cleanup(srv.Close)
	p := start(t, &rest.Config{Host: srv.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
		"GET /api/v1/namespaces/*/pods/* nth=2 answer code=409")
	path, err := p.Kubeconfig(t.TempDir(), "team")
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it holds a token")

	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, nil)
	namespace, _, err := loader.Namespace()
	require.NoError(t, err)
	assert.Equal(t, "team", namespace)
	cfg, err := loader.ClientConfig()
	require.NoError(t, err)
	pods := kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods(namespace)
	pod, err := pods.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "a", pod.Name)
	_, err = pods.Get(t.Context(), "a", metav1.GetOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	for code, check := range map[string]func(error) bool{
		"401": apierrors.IsUnauthorized, "403": apierrors.IsForbidden, "409": apierrors.IsConflict,
		"410": apierrors.IsResourceExpired, "429": apierrors.IsTooManyRequests,
		"500": apierrors.IsInternalError, "503": apierrors.IsServiceUnavailable,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := start(t, b.config(), "answer code="+code)
			cfg := p.Config()
			_, err := kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods("ns").Get(t.Context(), "a", metav1.GetOptions{})
			assert.True(t, check(err), "%v", err)
		})
	}
	t.Run("Retry-After is rounded up", func(t *testing.T) {
		t.Parallel()
		p := start(t, b.config(), "nth=1 answer code=429 retry-after=1100ms reason=Busy")
		c := client(t, p)
		resp, err := get(t, c, p.URL()+"/")
		require.NoError(t, err)
		assert.Equal(t, 429, resp.StatusCode)
		assert.Equal(t, "2", resp.Header.Get("Retry-After"))
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Contains(t, string(data), `"reason":"Busy"`)
		assert.Equal(t, "GET /", body(t, c, p.URL()+"/"))
	})
	assert.Zero(t, b.acted.Load())
}

func TestDropAnswerHappensAfterTheServerActed(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"stream", "conn"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			b := newBackend(t)
			p := start(t, b.config(), "POST nth=1 drop-answer scope="+scope)
			c := client(t, p)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL()+"/jobs", strings.NewReader("x"))
			require.NoError(t, err)
			resp, err := c.Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			require.Error(t, err)
			assert.EqualValues(t, 1, b.acted.Load())
			reqs := p.Requests()
			require.Len(t, reqs, 1, "nobody may resend a POST")
			assert.Equal(t, 200, reqs[0].Upstream)
			assert.Zero(t, reqs[0].Status)
		})
	}
}

func TestCutScopes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scope     string
		watchEnds bool
	}{{"stream", false}, {"conn", true}} {
		t.Run(tt.scope, func(t *testing.T) {
			t.Parallel()
			b := newBackend(t)
			p := start(t, b.config(), "GET /victim cut scope="+tt.scope)
			c := client(t, p)
			resp, err := get(t, c, p.URL()+"/jobs?watch=true")
			require.NoError(t, err)
			b.feed <- "one"
			line := make([]byte, 4)
			_, err = io.ReadFull(resp.Body, line)
			require.NoError(t, err)

			_, err = get(t, c, p.URL()+"/victim")
			require.Error(t, err)
			b.feed <- "two"
			_, err = io.ReadFull(resp.Body, line)
			assert.Equal(t, tt.watchEnds, err != nil, "the other stream of the same connection: %v", err)
			acted := b.acted.Load()
			assert.EqualValues(t, 1, acted, "the victim never reached the server")
		})
	}
}

func TestCutInsideAStream(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"watch cut events=2":             "one\ntwo\n",
		"watch cut bytes=6 scope=conn":   "one\ntw",
		"watch cut events=1 scope=conn":  "one\n",
		"watch cut events=3 after=100ms": "one\ntwo\n",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			b := newBackend(t)
			p := start(t, b.config(), rule)
			resp, err := get(t, client(t, p), p.URL()+"/jobs?watch=1")
			require.NoError(t, err)
			b.feed <- "one"
			b.feed <- "two"
			got, err := io.ReadAll(resp.Body)
			require.Error(t, err)
			if !strings.Contains(rule, "scope=conn") { // a reset connection may take what was under way along
				assert.Equal(t, want, string(got))
			} else {
				assert.True(t, strings.HasPrefix(want, string(got)), "%q", got)
			}
		})
	}
}

func TestWatchErrorReachesTypedClients(t *testing.T) {
	t.Parallel()
	// A real protobuf watch needs a real server; a second proxy in front of nothing sends the event by itself.
	b := newBackend(t)
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			p := start(t, b.config(), "watch watch-error")
			cfg := p.Config()
			cfg.ContentType = contentType
			w, err := kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods("ns").Watch(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			defer w.Stop()
			event := <-w.ResultChan()
			assert.Equal(t, watch.Error, event.Type)
			err = apierrors.FromObject(event.Object)
			assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
			_, open := <-w.ResultChan()
			assert.False(t, open, "the stream ends behind it")
		})
	}
	assert.Zero(t, b.acted.Load())
}

func TestWatchErrorAfterEvents(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config(), "watch nth=1 watch-error events=1")
	cfg := p.Config()
	cfg.ContentType = "application/json"
	pods := kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods("ns")
	w, err := pods.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	b.feed <- `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}`
	event := <-w.ResultChan()
	pod, ok := event.Object.(*corev1.Pod)
	require.True(t, ok)
	assert.Equal(t, "a", pod.Name)
	assert.Equal(t, watch.Error, (<-w.ResultChan()).Type)
}

func TestStall(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config(), "watch stall events=1 for=150ms")
	resp, err := get(t, client(t, p), p.URL()+"/jobs?watch=1")
	require.NoError(t, err)
	begin := time.Now()
	b.feed <- "one"
	b.feed <- "two"
	close(b.feed)
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(got), "nothing is lost")
	assert.GreaterOrEqual(t, time.Since(begin), 150*time.Millisecond)
}

func TestFreezeIsHalfOpen(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config())
	c := client(t, p)
	require.Equal(t, "GET /a", body(t, c, p.URL()+"/a"))
	p.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL()+"/b", nil)
	require.NoError(t, err)
	resp, err := c.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	require.ErrorIs(t, err, context.DeadlineExceeded, "no answer and no error")
	assert.Equal(t, "GET /c", body(t, client(t, p), p.URL()+"/c"), "new connections work")
	p.Thaw()
	assert.Equal(t, "GET /d", body(t, c, p.URL()+"/d"))
}

func TestOutage(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config(), "GET /last outage")
	c := client(t, p)
	_, err := get(t, c, p.URL()+"/last")
	require.Error(t, err)
	_, err = get(t, c, p.URL()+"/next")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NoError(t, p.Up())
	assert.Equal(t, "GET /after", body(t, c, p.URL()+"/after"))

	p.ClearRules()
	p.Add(Rule{Action: Outage{For: 50 * time.Millisecond}, Times: 1})
	_, err = get(t, c, p.URL()+"/again")
	require.Error(t, err)
	require.EventuallyWithT(t, func(ct *assert.CollectT) { // no signal tells a client that a port is back
		resp, err := get(t, c, p.URL()+"/back")
		if assert.NoError(ct, err) {
			assert.Equal(ct, http.StatusOK, resp.StatusCode)
		}
	}, 10*time.Second, 10*time.Millisecond)
	assert.EqualValues(t, 2, b.acted.Load())
}

func TestHooksStandBetweenRequests(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config())
	c := client(t, p)
	var seen []string
	var mu sync.Mutex
	p.OnRequest(func(r Request) bool {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Path)
		return r.N != 2
	})
	require.Equal(t, "GET /1", body(t, c, p.URL()+"/1"))
	_, err := get(t, c, p.URL()+"/2")
	require.Error(t, err)
	assert.EqualValues(t, 1, b.acted.Load(), "the server has seen n-1 requests")
	p.OnRequest(nil)
	p.OnAnswer(func(r Request) bool { return r.Upstream != 200 })
	_, err = get(t, c, p.URL()+"/3")
	require.Error(t, err)
	assert.EqualValues(t, 2, b.acted.Load(), "the server has acted")
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{"/1", "/2"}, seen)
}

func TestAwait(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p := start(t, b.config())
	c := client(t, p)
	done := make(chan error, 1)
	go func() { done <- p.Await(t.Context(), Match{Path: "/x/*"}, 2) }()
	for _, path := range []string{"/x/1", "/y", "/x/2"} {
		body(t, c, p.URL()+path)
	}
	require.NoError(t, <-done)
	assert.Equal(t, 2, p.Count(Match{Path: "/x/*"}))

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	require.ErrorContains(t, p.Await(ctx, Match{Path: "/never"}, 1), "0 of 1 requests /never arrived: enough")
}

func TestCloseEndsStalledExchanges(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	p, err := New(b.config())
	require.NoError(t, err)
	rule, err := ParseRule("stall scope=conn")
	require.NoError(t, err)
	p.Add(rule)
	c := client(t, p)
	done := make(chan error, 1)
	go func() {
		resp, err := c.Get(p.URL() + "/")
		if err == nil {
			_ = resp.Body.Close()
		}
		done <- err
	}()
	require.NoError(t, p.Await(t.Context(), Match{}, 1))
	require.NoError(t, p.Close())
	require.Error(t, <-done)
}
