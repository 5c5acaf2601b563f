package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/cluster"
)

// run is one command line on a machine where no sandbox is.
func run(t *testing.T, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	environ := map[string]string{"SANDBOX_HOME": home, "SANDBOX_CACHE": home + "/cache"}
	code = Main(t.Context(), args, Env{
		In: &bytes.Buffer{}, Out: &out, Err: &err, Now: time.Now,
		Getenv:   func(name string) string { return environ[name] },
		CacheDir: func() (string, error) { return "", errors.New("no cache here") },
		Replace:  func(string, []string, []string) error { t.Error("becomes another program"); return nil },
	})
	return code, out.String(), err.String()
}

func TestExitCodes(t *testing.T) {
	for line, want := range map[string]struct {
		code   int
		stderr string
	}{
		"status":                     {exitNotUp, ""},
		"down":                       {0, "There is no sandbox."},
		"kubeconfig":                 {exitFailed, "start one with `sandbox up`"},
		"kubectl get pods":           {exitFailed, "start one with `sandbox up`"},
		"reset":                      {exitFailed, "start one with `sandbox up`"},
		"stop kubelet":               {exitFailed, "start one with `sandbox up`"},
		"image":                      {exitFailed, "start one with `sandbox up`"},
		"up --runtime=docker":        {exitFailed, "want auto, containerd or kwok"},
		"up --runtime=containerd":    {exitFailed, "needs root"},
		"kubeconfig --user=root":     {exitUsage, "want admin or tenant"},
		"status --output=yaml":       {exitUsage, "want json"},
		"up now":                     {exitUsage, "now"},
		"up --nonsense":              {exitUsage, "--nonsense"},
		"nonsense":                   {exitUsage, "nonsense"},
		"stop":                       {exitUsage, "at least 1"},
		"image push":                 {exitUsage, "at least 1"},
		"image push a b":             {exitUsage, "then -- and the command"},
		"image push a --file=x:bin":  {exitUsage, "absolute"},
		"image push a --file=/no:/x": {exitUsage, "/no"},
	} {
		code, stdout, stderr := run(t, filepath.Join(t.TempDir(), "h"), strings.Fields(line)...)
		if code != want.code || !strings.Contains(stderr, want.stderr) {
			t.Errorf("%s: exit code %d, want %d; stderr %q, want %q", line, code, want.code, stderr, want.stderr)
		}
		if line != "status" && stdout != "" {
			t.Errorf("%s: stdout %q", line, stdout)
		}
	}
}

func TestStatusAsJSON(t *testing.T) {
	home := t.TempDir()
	code, stdout, _ := run(t, home, "status", "-o", "json")
	var status cluster.Status
	if err := json.Unmarshal([]byte(stdout), &status); err != nil {
		t.Fatal(err)
	}
	if code != exitNotUp || status.State != cluster.Down || status.Home != home {
		t.Errorf("exit code %d, %+v", code, status)
	}
}

func TestUpRefusesALongHome(t *testing.T) {
	code, _, stderr := run(t, "/"+strings.Repeat("x", 200), "up")
	if code != exitFailed || !strings.Contains(stderr, "set SANDBOX_HOME to a shorter path") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
