package record_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubectl-work/kubectl-work/pkg/record"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

// A recording gives the verdict that was given when it was made, for every state that was ever captured.
func TestReplayGivesTheSameVerdict(t *testing.T) {
	t.Parallel()
	for _, name := range snapshottest.Names() {
		snapshots, err := snapshottest.Load(name)
		require.NoError(t, err)
		for _, s := range snapshots {
			var out bytes.Buffer
			w := record.NewWriter(&out)
			w.Add(s)
			require.NoError(t, w.Err())
			r, err := record.Read(&out)
			require.NoError(t, err)
			got := r.At(r.End())
			require.Len(t, got, 1)
			want, err := json.Marshal(status.Of(s))
			require.NoError(t, err)
			have, err := json.Marshal(status.Of(got[0]))
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(have), name)
		}
	}
}

func load(t *testing.T, name string) status.Snapshot {
	t.Helper()
	snapshots, err := snapshottest.Load(name)
	require.NoError(t, err)
	return snapshots[0]
}

// Only what changed is written, and any moment can be asked for.
func TestRecordingOverTime(t *testing.T) {
	t.Parallel()
	before, after := load(t, "indexes-fail.7s"), load(t, "indexes-fail.15s")
	var out bytes.Buffer
	w := record.NewWriter(&out)
	w.Add(before)
	again := before
	again.At = again.At.Add(time.Second)
	w.Add(again)
	require.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")), "nothing changed, nothing is written")
	w.Add(after)
	r, err := record.Read(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.Equal(t, status.PhaseRunning, status.Of(r.At(before.At)[0]).Phase)
	require.Equal(t, status.PhaseFailed, status.Of(r.At(after.At)[0]).Phase)
	require.Empty(t, r.At(before.At.Add(-time.Minute)))
}

// A kill -9 may cut the last line; everything before it still counts. Anything else that cannot be read is told.
func TestReadOfBrokenRecordings(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := record.NewWriter(&out)
	w.Add(load(t, "indexes-fail.7s"))
	w.Add(load(t, "indexes-fail.15s"))
	whole := out.String()
	r, err := record.Read(strings.NewReader(whole[:len(whole)-100]))
	require.NoError(t, err)
	require.Equal(t, status.PhaseRunning, status.Of(r.At(r.End())[0]).Phase)
	lines := strings.SplitAfter(whole, "\n")
	_, err = record.Read(strings.NewReader(lines[0] + "{\n" + lines[2]))
	require.ErrorContains(t, err, "line 2")
	for _, text := range []string{"", "{}\n", "hello\n", lines[0]} {
		_, err = record.Read(strings.NewReader(text))
		require.Error(t, err, "%q", text)
	}
}

func TestRecordingsAreRedacted(t *testing.T) {
	t.Parallel()
	s := load(t, "env-key-missing.15s")
	s.Job.Spec.Template.Spec.Containers[0].Env[0].Value = "hunter2"
	s.Pods[0].Spec.Containers[0].Command = []string{"run", "--password=hunter2"}
	s.Events[0].Message = "cannot reach https://etl:hunter2@example.com"
	s.Logs = []status.LogTail{{Lines: []string{"token=hunter2"}}}
	var out bytes.Buffer
	record.NewWriter(&out).Add(s)
	require.NotContains(t, out.String(), "hunter2")
	require.Equal(t, "token=hunter2", s.Logs[0].Lines[0], "what is shown stays as it is")
}
