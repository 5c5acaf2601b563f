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

func TestReadFilesKeepsTheOrderAndReadsStdin(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first.yaml")
	require.NoError(t, os.WriteFile(first, []byte("kind: Work\n"), 0o600))
	a := &app{Env: Env{In: strings.NewReader("kind: Job\n")}}

	got, err := readFiles(t.Context(), a, []string{"-", first})
	require.NoError(t, err)
	assert.Equal(t, []source{{"stdin", []byte("kind: Job\n")}, {first, []byte("kind: Work\n")}}, got)
}

func TestReadFilesNamesEveryFileItCannotUse(t *testing.T) {
	dir := t.TempDir()
	empty, missing := filepath.Join(dir, "empty.yaml"), filepath.Join(dir, "missing.yaml")
	require.NoError(t, os.WriteFile(empty, []byte(" \n\t\n"), 0o600))
	a := &app{Env: Env{In: strings.NewReader("")}}

	_, err := readFiles(t.Context(), a, []string{missing, empty, dir, "-", "-", "https://example.com/work.yaml"})
	require.Error(t, err)
	assert.Equal(t, CodeRefused, exitCode(err))
	assert.Equal(t, strings.Join([]string{
		missing + ": no such file",
		empty + ": no documents: it is empty",
		dir + ": is a folder; name the files in it",
		"stdin: no documents: it is empty",
		"-f - is given twice",
		"https://example.com/work.yaml: addresses are not read; fetch it first: curl -fsSL https://example.com/work.yaml | kubectl work … -f -",
	}, "\n"), message(err))
}

func TestReadFilesEndsWithItsContext(t *testing.T) {
	silent, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errTimeout)
	defer cancel()

	_, err := readFiles(ctx, &app{Env: Env{In: silent}}, []string{"-"})
	assert.ErrorIs(t, err, errTimeout)
}
