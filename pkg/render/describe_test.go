package render_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

// describeInput is the file describe.yaml of a golden description: a capture of a real cluster, and what else was read.
type describeInput struct {
	Capture      string           `json:"capture"`
	Logs         []status.LogTail `json:"logs"`
	PodsHidden   bool             `json:"podsHidden"`
	EventsHidden bool             `json:"eventsHidden"`
	NoEvents     bool             `json:"noEvents"`
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/describe/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden(t, file, func(t *testing.T, in map[string]string, want string) string {
				t.Helper()
				s := snapshotOf(t, in["describe.yaml"])
				if strings.HasSuffix(want, ".json") {
					data, err := json.MarshalIndent(render.DescriptionItem(s, status.Of(s)), "", "    ")
					require.NoError(t, err)
					return string(data) + "\n"
				}
				var out bytes.Buffer
				require.NoError(t, render.Describe(&out, s, status.Of(s)))
				return out.String()
			})
		})
	}
}

func snapshotOf(t *testing.T, text string) status.Snapshot {
	t.Helper()
	var in describeInput
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &in))
	snapshots, err := snapshottest.Load(in.Capture)
	require.NoError(t, err)
	require.NotEmpty(t, snapshots)
	s := snapshots[0]
	s.Logs, s.PodsHidden, s.EventsHidden = in.Logs, in.PodsHidden, in.EventsHidden
	if in.PodsHidden {
		s.Pods = nil
	}
	if in.EventsHidden || in.NoEvents {
		s.Events = nil
	}
	return s
}
