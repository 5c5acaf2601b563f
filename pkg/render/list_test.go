package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

var update = flag.Bool("update", false, "rewrite the want files of the golden tests")

// listInput is the file list.yaml of a golden list: Jobs, or captures of a real cluster by name, and how to draw them.
type listInput struct {
	Captures   []string          `json:"captures"`
	Jobs       []batchv1.Job     `json:"jobs"`
	At         time.Time         `json:"at"` // for jobs
	PodsHidden bool              `json:"podsHidden"`
	Options    map[string]option `json:"options"` // by want file
}

type option struct {
	Namespaces bool `json:"namespaces"`
	Wide       bool `json:"wide"`
	NoHeaders  bool `json:"noHeaders"`
	Colour     bool `json:"colour"`
	Width      int  `json:"width"`
}

func TestList(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/list/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden(t, file, func(t *testing.T, in map[string]string, want string) string {
				t.Helper()
				var input listInput
				require.NoError(t, yaml.UnmarshalStrict([]byte(in["list.yaml"]), &input))
				rows, at := input.rows(t)
				if strings.HasSuffix(want, ".json") {
					data, err := json.MarshalIndent(render.RunList(rows, 0, ""), "", "    ")
					require.NoError(t, err)
					return string(data) + "\n"
				}
				var out bytes.Buffer
				o, known := input.Options[want]
				require.True(t, known || want == "want.txt", "no options for %s", want)
				require.NoError(t, render.List(&out, rows, render.ListOptions{
					Namespaces: o.Namespaces, Wide: o.Wide, NoHeaders: o.NoHeaders, Colour: o.Colour, Width: o.Width, At: at,
				}))
				return strings.ReplaceAll(out.String(), "\x1b", "<ESC>")
			})
		})
	}
}

func (in listInput) rows(t *testing.T) (rows []render.Row, at time.Time) {
	t.Helper()
	var snapshots []status.Snapshot
	for _, name := range in.Captures {
		captured, err := snapshottest.Load(name)
		require.NoError(t, err)
		require.NotEmpty(t, captured, name)
		snapshots = append(snapshots, captured...)
	}
	for i := range in.Jobs {
		snapshots = append(snapshots, status.Snapshot{Job: &in.Jobs[i], At: in.At})
	}
	for _, s := range snapshots {
		if s.Events, s.PodsHidden = nil, in.PodsHidden; s.PodsHidden {
			s.Pods = nil
		}
		s.Pods = slices.DeleteFunc(slices.Clone(s.Pods), status.Terminal) // as list reads them
		rows = append(rows, render.Row{Job: s.Job, Verdict: status.Of(s)})
		if s.At.After(at) {
			at = s.At
		}
	}
	return rows, at
}

// golden compares every want file of a txtar with what draw makes of its other files.
func golden(t *testing.T, file string, draw func(t *testing.T, in map[string]string, want string) string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, strings.TrimSpace(string(archive.Comment)), "%s does not say why it is there", file)
	in := map[string]string{}
	for _, f := range archive.Files {
		in[f.Name] = string(f.Data)
	}
	wants := 0
	for i := range archive.Files {
		f := &archive.Files[i]
		if !strings.HasPrefix(f.Name, "want") {
			continue
		}
		wants++
		got := draw(t, in, f.Name)
		if *update {
			f.Data = []byte(got)
			continue
		}
		assert.Equal(t, string(f.Data), got, f.Name)
	}
	require.NotZero(t, wants, "%s wants nothing", file)
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
	}
}

// The list of a large namespace must not take longer than kubectl's.
func BenchmarkList(b *testing.B) {
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, n := range []int{1_000, 10_000} {
		rows := make([]render.Row, n)
		for i := range rows {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("etl-r%d", i), CreationTimestamp: metav1.NewTime(at.Add(-time.Hour))}}
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}}
			rows[i] = render.Row{Job: job, Verdict: status.Of(status.Snapshot{Job: job, At: at})}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var out bytes.Buffer
				require.NoError(b, render.List(&out, rows, render.ListOptions{At: at}))
			}
		})
	}
}
