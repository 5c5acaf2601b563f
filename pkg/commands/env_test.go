package commands

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testEnv is a process without a cluster.
func testEnv() (env Env, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return Env{
		In: strings.NewReader(""), Out: out, Err: errs, Now: time.Now, NewID: func() string { return "id" },
		Getenv: func(string) string { return "" },
	}, out, errs
}

// A panic is a bug of ours, and never exit code 2: Go's own code for it would pass for a failed Work.
func TestPanicIsInternalError(t *testing.T) {
	t.Parallel()
	env, _, errs := testEnv()
	env.Getenv = func(string) string { panic("boom") }
	require.EqualValues(t, CodeInternal, Main(t.Context(), []string{"submit", "-f", "x.yaml"}, env))
	require.Contains(t, errs.String(), "internal error: boom")
	require.Contains(t, errs.String(), "Please report it")
}

func TestInterruptsHaveTheShellsCodes(t *testing.T) {
	t.Parallel()
	require.Equal(t, CodeInterrupted, exitCode(&InterruptError{Signal: interrupt{}}))
}

type interrupt struct{}

func (interrupt) String() string { return "interrupt" }
func (interrupt) Signal()        {}

// What is wrong with the command line is told before anything is asked of a cluster, and all of it at once.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"wait"}, []string{"NAME..., -l SELECTOR, -f FILE, -k DIR or --all"}},
		{[]string{"wait", "a", "--all"}, []string{"in one way"}},
		{[]string{"wait", "pod/a"}, []string{`"pod" is not a kind that this command knows`}},
		{
			[]string{"wait", "a", "--on-hold=stop", "--fail-fast=maybe", "--timeout=-1s", "--grace=disk=1s"},
			[]string{"--on-hold=stop: give wait or fail", "--fail-fast=maybe: give on or off", "--timeout -1s", "--grace disk=1s: the classes are"},
		},
		{[]string{"wait", "a", "-o", "toml"}, []string{"-o toml is not a format of this command; give one of: json, yaml, name, jsonpath, custom-columns"}},
		{[]string{"wait", "a", "-o", "jsonpath={.x"}, []string{"-o jsonpath={.x"}},
		{[]string{"submit"}, []string{"-f is missing"}},
		{[]string{"submit", "-f", "x", "--wait", "--dry-run=server"}, []string{"exclude each other"}},
		{[]string{"submit", "-f", "x", "--logs"}, []string{"--logs needs --wait"}},
		{[]string{"submit", "x.yaml"}, []string{"x.yaml"}},
		{[]string{"submit", "-f", "x", "--from", "cronjob/a"}, []string{"exclude each other"}},
		{[]string{"submit", "-k", "x", "--from", "cronjob/a"}, []string{"exclude each other"}},
		{[]string{"submit", "-f", "x", "--name", "a"}, []string{"--name is about --from"}},
		{[]string{"submit", "--from", "job/a"}, []string{"another run of a Job is kubectl work retry a"}},
		{[]string{"submit", "--from", "a"}, []string{"give cronjob/NAME"}},
		{[]string{"submit", "--from", "cronjob/A_b", "--name", "C_d"}, []string{`"A_b" is not the name of a CronJob`, `--name "C_d"`}},
		{[]string{"describe"}, []string{"NAME..., -l SELECTOR, -f FILE or -k DIR"}},
		{[]string{"pause", "a", "-l", "b=c"}, []string{"in one way"}},
		{[]string{"logs"}, []string{"accepts 1 arg"}},
		{[]string{"logs", "a", "--previous", "-f"}, []string{"exclude each other"}},
		{[]string{"describ"}, []string{`unknown command "describ"; did you mean "describe"?`}},
		{[]string{"list", "--no-such-flag"}, []string{"unknown flag: --no-such-flag"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			env, out, errs := testEnv()
			require.EqualValues(t, CodeRefused, Main(context.WithoutCancel(t.Context()), c.args, env), errs.String())
			for _, text := range c.want {
				require.Contains(t, errs.String(), text)
			}
			require.Empty(t, out.String(), "stdout is for results")
		})
	}
}

// Several Works have one code: the first of the documented order that any of them has.
func TestWorst(t *testing.T) {
	t.Parallel()
	require.Equal(t, CodeOK, worst(nil))
	require.Equal(t, CodeFailed, worst([]Code{CodeOK, CodeTimeout, CodeFailed, CodeStuck}))
	require.Equal(t, CodeTimeout, worst([]Code{CodeOK, CodeTimeout}))
	require.Equal(t, CodeAccess, worst([]Code{CodeFailed, CodeAccess}))
	require.Equal(t, CodeInternal, worst([]Code{CodeUnreachable, CodeInternal}))
}
