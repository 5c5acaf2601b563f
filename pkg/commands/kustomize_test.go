package commands

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program writes a shell script that stands for kubectl.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubectl")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755)) //nolint:gosec // it is run
	return path
}

func TestKustomizeIsKubectls(t *testing.T) {
	read := func(caller string) (string, error) {
		a := testApp(map[string]string{kubectlEnv: caller}, io.Discard)
		got, err := readFiles(t.Context(), a, inputs{kustomize: "overlays/prod"})
		if err != nil {
			assert.Equal(t, CodeRefused, exitCode(err))
			return "", err
		}
		require.Len(t, got, 1)
		assert.Equal(t, "kustomize overlays/prod", got[0].name)
		return string(got[0].data), nil
	}
	got, err := read(program(t, `echo "$@"`))
	require.NoError(t, err)
	assert.Equal(t, "kustomize -- overlays/prod\n", got)

	_, err = read(program(t, `echo "error: no kustomization.yaml in it" >&2; exit 1`))
	require.EqualError(t, err, "kustomize overlays/prod: no kustomization.yaml in it")
	silent := program(t, "exit 3")
	_, err = read(silent)
	require.EqualError(t, err, "kustomize overlays/prod: "+silent+" kustomize ended with exit status 3 and said nothing")
	_, err = read(program(t, "true"))
	require.EqualError(t, err, "kustomize overlays/prod: no documents: it is empty")
	_, err = read(program(t, "exec cat /dev/zero"))
	require.EqualError(t, err, "kustomize overlays/prod: longer than 64 MiB: this is no manifest")
	_, err = read(filepath.Join(t.TempDir(), "kubectl"))
	require.EqualError(t, err, "kustomize overlays/prod: no such file")
}

// kubectl may be one of several programs in a binary, which then is not kubectl under its own name.
func TestTheKubectlThatIsCalled(t *testing.T) {
	onPath := program(t, "true")
	t.Setenv("PATH", filepath.Dir(onPath))
	for caller, want := range map[string]string{"": onPath, "/opt/bin/kubectl": "/opt/bin/kubectl", "/usr/local/bin/k3s": onPath} {
		got, err := kubectl(testApp(map[string]string{kubectlEnv: caller}, io.Discard))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	t.Setenv("PATH", t.TempDir())
	got, err := kubectl(testApp(map[string]string{kubectlEnv: "/usr/bin/oc"}, io.Discard))
	require.NoError(t, err)
	assert.Equal(t, "/usr/bin/oc", got)
	_, err = kubectl(testApp(nil, io.Discard))
	require.ErrorContains(t, err, "there is none on PATH")
}

func TestKustomizeGoesWithNoFiles(t *testing.T) {
	t.Parallel()
	for _, in := range []inputs{{kustomize: "a", paths: []string{"b"}}, {kustomize: "a", recursive: true}} {
		_, err := readFiles(t.Context(), testApp(nil, io.Discard), in)
		require.ErrorContains(t, err, "only one of -f (with -R) and -k")
	}
}

// A kubectl that hangs ends with the command, with the cause of that.
func TestKustomizeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	a := testApp(map[string]string{kubectlEnv: program(t, "exec sleep 60")}, io.Discard)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errTimeout)
	defer cancel()
	_, err := readFiles(ctx, a, inputs{kustomize: "a"})
	require.ErrorIs(t, err, errTimeout)
}

func TestWhatKubectlSaysIsBounded(t *testing.T) {
	t.Parallel()
	a := testApp(map[string]string{kubectlEnv: program(t, "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1")}, io.Discard)
	_, err := kustomize(t.Context(), a, "a")
	require.EqualError(t, err, strings.Repeat("x", maxSaid))
}
