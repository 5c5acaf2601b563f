package commands

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
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

	got, err := readFiles(t.Context(), a, inputs{paths: []string{"-", first}})
	require.NoError(t, err)
	assert.Equal(t, []source{{"stdin", []byte("kind: Job\n")}, {first, []byte("kind: Work\n")}}, got)
}

func TestReadFilesNamesEveryFileItCannotUse(t *testing.T) {
	dir := t.TempDir()
	empty, missing := filepath.Join(dir, "empty.yaml"), filepath.Join(dir, "missing.yaml")
	require.NoError(t, os.WriteFile(empty, []byte(" \n\t\n"), 0o600))
	hollow := filepath.Join(dir, "hollow")
	require.NoError(t, os.Mkdir(hollow, 0o700))
	a := &app{Env: Env{In: strings.NewReader("")}}

	_, err := readFiles(t.Context(), a, inputs{paths: []string{missing, empty, hollow, "-", "-"}})
	require.Error(t, err)
	assert.Equal(t, CodeRefused, exitCode(err))
	assert.Equal(t, strings.Join([]string{
		hollow + ": no manifests (*.yaml, *.yml, *.json) in this folder; -R looks into the folders in it too",
		missing + ": no such file",
		empty + ": no documents: it is empty",
		"stdin: no documents: it is empty",
		"-f - is given twice",
	}, "\n"), message(err))
}

func TestReadFilesEndsWithItsContext(t *testing.T) {
	silent, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errTimeout)
	defer cancel()

	_, err := readFiles(ctx, &app{Env: Env{In: silent}}, inputs{paths: []string{"-"}})
	assert.ErrorIs(t, err, errTimeout)
}

func TestFoldersAndAddresses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "more"), 0o700))
	for _, name := range []string{"b.yaml", "a.yml", "note.txt", "more/c.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/work.yaml" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("from afar")) // a test fails without it
	}))
	t.Cleanup(server.Close)
	names := func(in inputs) []string {
		got, err := readFiles(t.Context(), &app{}, in)
		require.NoError(t, err)
		var texts []string
		for _, s := range got {
			texts = append(texts, string(s.data))
		}
		return texts
	}
	assert.Equal(t, []string{"a.yml", "b.yaml"}, names(inputs{paths: []string{dir}}))
	assert.Equal(t, []string{"a.yml", "b.yaml", "more/c.json"}, names(inputs{paths: []string{dir}, recursive: true}))
	assert.Equal(t, []string{"from afar"}, names(inputs{paths: []string{server.URL + "/work.yaml"}}))
	_, err := readFiles(t.Context(), &app{}, inputs{paths: []string{server.URL + "/gone"}})
	assert.EqualError(t, err, server.URL+"/gone: the server answers 404 Not Found")
}
