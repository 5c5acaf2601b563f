package commands

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSuggestionsLeaveOutWhatIsTyped(t *testing.T) {
	t.Parallel()
	names := []string{"etl-r2", "etl", "etl", "load"}
	assert.Equal(t, []string{"etl", "etl-r2", "load"}, suggest(names, nil, ""))
	assert.Equal(t, []string{"etl-r2"}, suggest(names, []string{"etl"}, "e"))
	assert.Equal(t, []string{"job/etl-r2"}, suggest(names, []string{"job/etl"}, "job/e"), "the kind stays")
	assert.Empty(t, suggest(names, nil, "x"))
}

// The program is asked by kubectl under another name.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ argv, want []string }{
		{[]string{"/usr/bin/kubectl-work", "list"}, []string{"list"}},
		{[]string{"kubectl-work"}, []string{}},
		{[]string{"/home/a/bin/kubectl_complete-work", "list", ""}, []string{"__complete", "list", ""}},
		{[]string{"kubectl_complete-work.exe"}, []string{"__complete"}},
		{nil, nil},
	} {
		assert.Equal(t, c.want, CommandLine(c.argv), c.argv)
	}
}

func testApp(env map[string]string, out io.Writer) *app {
	return &app{Env: Env{
		In: strings.NewReader(""), Out: out, Err: io.Discard, Now: time.Now, Getenv: func(key string) string { return env[key] },
	}}
}

func TestEveryOutputFlagCompletes(t *testing.T) {
	t.Parallel()
	root := newRootCommand(testApp(nil, io.Discard))
	found := 0
	for _, cmd := range root.Commands() {
		if cmd.Flag("output") == nil {
			continue
		}
		found++
		values, has := cmd.GetFlagCompletionFunc("output")
		require.True(t, has, cmd.Name())
		formats, directive := values(cmd, nil, "")
		assert.NotEmpty(t, formats, "the help of -o of %s names no format", cmd.Name())
		assert.Equal(t, cobra.ShellCompDirectiveNoFileComp, directive)
		for _, f := range formats {
			if f == jsonPathPrefix {
				f += "{.kind}"
			}
			run := newRootCommand(testApp(nil, io.Discard))
			run.SetArgs([]string{cmd.Name(), "--output", f, "--kubeconfig", filepath.Join(t.TempDir(), "none")})
			if err := run.ExecuteContext(t.Context()); err != nil {
				assert.NotContains(t, err.Error(), "is not a format of this command", "%s -o %s", cmd.Name(), f)
			}
		}
	}
	assert.Greater(t, found, 5)
}

func TestCompletionWritesTheShimOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "kubectl_complete-work")
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		root := newRootCommand(testApp(map[string]string{"PATH": dir}, &out))
		root.SetArgs(append([]string{"completion"}, args...))
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	out, err := run("kubectl", dir)
	require.NoError(t, err)
	assert.Equal(t, path+" written\n", out)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())

	out, err = run("kubectl", dir)
	require.NoError(t, err)
	assert.Equal(t, path+" unchanged\n", out)

	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+shimMark+"\nold\n"), 0o600))
	out, err = run("kubectl", dir)
	require.NoError(t, err, "an older one of ours is renewed")
	assert.Equal(t, path+" written\n", out)

	require.NoError(t, os.WriteFile(path, []byte("somebody else's\n"), 0o600))
	_, err = run("kubectl", dir)
	require.ErrorContains(t, err, "not ours")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no halves are left behind")

	_, err = run("kubectl", filepath.Join(dir, "missing"))
	assert.Equal(t, CodeRefused, exitCode(err))
	_, err = run("tcsh")
	require.ErrorContains(t, err, "tcsh")
	_, err = run("bash", dir)
	require.ErrorContains(t, err, "only completion kubectl")

	out, err = run("kubectl")
	require.NoError(t, err)
	assert.Contains(t, out, `exec kubectl-work __complete "$@"`)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		out, err = run(shell)
		require.NoError(t, err)
		assert.Contains(t, out, "kubectl-work", shell)
	}
}
