package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// source is one input of -f.
type source struct {
	name string // as it was given; stdinName for -
	data []byte
}

// stdinName is what problems in the input of -f - are said of.
const stdinName = "stdin"

// maxSource is how long one input may be: far above any manifest, far below what would exhaust a machine.
const maxSource = 64 << 20

// readFiles reads the inputs of -f in their order; - is stdin. It reads all of them before it reports, and each error
// names its file. No URLs: nothing is asked of anyone but the API server.
func readFiles(ctx context.Context, a *app, paths []string) ([]source, error) {
	var sources []source
	var problems []error
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			problems = append(problems, refuse("-f %s is given twice", path))
			continue
		}
		s, err := readFile(ctx, a, path)
		if ctx.Err() != nil {
			return nil, cause(ctx)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		sources = append(sources, s)
	}
	return sources, errors.Join(problems...)
}

// readFile reads one input. A pipe that nobody writes to must not outlive ctx: the read is left behind then.
func readFile(ctx context.Context, a *app, path string) (source, error) {
	type answer struct {
		data []byte
		err  error
	}
	read := make(chan answer, 1)
	name, open := opener(a, path)
	go func() {
		data, err := readAll(open)
		read <- answer{data, err}
	}()
	select {
	case <-ctx.Done():
		return source{}, cause(ctx)
	case got := <-read:
		switch {
		case got.err != nil:
			return source{}, refuse("%s: %s", name, fileProblem(path, got.err))
		case len(bytes.TrimSpace(got.data)) == 0:
			return source{}, refuse("%s: no documents: it is empty", name)
		}
		return source{name: name, data: got.data}, nil
	}
}

func opener(a *app, path string) (name string, open func() (io.ReadCloser, error)) {
	if path == "-" {
		return stdinName, func() (io.ReadCloser, error) { return io.NopCloser(a.In), nil }
	}
	return path, func() (io.ReadCloser, error) { return os.Open(path) }
}

var errTooLong = fmt.Errorf("longer than %d MiB: this is no manifest", maxSource>>20)

func readAll(open func() (io.ReadCloser, error)) ([]byte, error) {
	file, err := open()
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxSource+1))
	if err == nil && len(data) > maxSource {
		err = errTooLong
	}
	return data, err
}

// fileProblem says in a few words why a file cannot be read.
func fileProblem(path string, err error) string {
	var at *fs.PathError
	switch {
	case strings.HasPrefix(path, "https://"), strings.HasPrefix(path, "http://"):
		return "addresses are not read; fetch it first: curl -fsSL " + path + " | kubectl work … -f -"
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	case isFolder(path):
		return "is a folder; name the files in it"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
