package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// parallel scripts: they mostly wait for Pods, so more than there are processors.
const parallel = "6"

var (
	keep = flag.Bool("keep", false, "keep the namespaces of the scripts")
	goOn = flag.Bool("go-on", false, "go on after the first failure in a script, to see all of them")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if !given("test.parallel") {
		if err := flag.Set("test.parallel", parallel); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func TestScripts(t *testing.T) { runScripts(t, "testdata/script") }

// TestOutage stops parts of the cluster itself, so its scripts run when the others are done.
func TestOutage(t *testing.T) { runScripts(t, "testdata/outage") }

func runScripts(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s, err := newSuite(ctx, t.TempDir())
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		ContinueOnError:    *goOn,
		Setup:              s.setup,
		Cmds:               commands(),
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return os.Getuid() == 0, nil
		},
	})
}
