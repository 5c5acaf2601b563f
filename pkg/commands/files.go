package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
)

// source is one input of -f or -k.
type source struct {
	name string // as it was given; stdinName for -
	data []byte
}

// stdinName is what problems in the input of -f - are said of.
const stdinName = "stdin"

// maxSource is how long one input may be: far above any manifest, far below what would exhaust a machine.
const maxSource = 64 << 20

// inputs are the -f and -k flags of a command.
type inputs struct {
	paths     []string
	recursive bool
	kustomize string // a folder
}

// add adds the flags; what says what the files are for.
func (in *inputs) add(flags *pflag.FlagSet, what string) {
	flags.StringSliceVarP(&in.paths, "filename", "f", nil, what+": files, folders, http(s) addresses, or - for stdin; may be given several times")
	flags.BoolVarP(&in.recursive, "recursive", "R", false, "With -f of a folder: also the folders in it")
	flags.StringVarP(&in.kustomize, "kustomize", "k", "", what+": what kubectl kustomize makes of this folder; not with -f")
}

func (in *inputs) given() bool { return len(in.paths) > 0 || in.kustomize != "" }

// missing is the refusal of a command that needs files.
func (in *inputs) missing() error {
	return refuse("-f is missing: give a file, or - for stdin, or -k with a folder for kustomize")
}

// readFiles reads the inputs of -f in their order. It reads all of them before it reports, and each error names its file.
func readFiles(ctx context.Context, a *app, in inputs) ([]source, error) {
	if in.kustomize != "" {
		return readKustomize(ctx, a, in)
	}
	paths, problems := expand(in)
	var sources []source
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

// readKustomize reads the input of -k. As with kubectl it goes together with none of -f.
func readKustomize(ctx context.Context, a *app, in inputs) ([]source, error) {
	if len(in.paths) > 0 || in.recursive {
		return nil, refuse("-k %s: only one of -f (with -R) and -k can be given", in.kustomize)
	}
	name := "kustomize " + in.kustomize
	data, err := kustomize(ctx, a, in.kustomize)
	switch {
	case ctx.Err() != nil:
		return nil, cause(ctx)
	case err != nil:
		return nil, refuse("%s: %s", name, fileProblem(err))
	case len(bytes.TrimSpace(data)) == 0:
		return nil, refuse("%s: no documents: it is empty", name)
	}
	return []source{{name: name, data: data}}, nil
}

// readFile reads one input. A pipe that nobody writes to must not outlive ctx: the read is left behind then.
func readFile(ctx context.Context, a *app, path string) (source, error) {
	type answer struct {
		data []byte
		err  error
	}
	read := make(chan answer, 1)
	name, open := opener(ctx, a, path)
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
			return source{}, refuse("%s: %s", name, fileProblem(got.err))
		case len(bytes.TrimSpace(got.data)) == 0:
			return source{}, refuse("%s: no documents: it is empty", name)
		}
		return source{name: name, data: got.data}, nil
	}
}

// expand puts the manifests of a folder in its place, in the order of their names, as kubectl does.
func expand(in inputs) (paths []string, problems []error) {
	for _, path := range in.paths {
		if !isFolder(path) {
			paths = append(paths, path)
			continue
		}
		found, err := manifestsIn(path, in.recursive)
		switch {
		case err != nil:
			problems = append(problems, refuse("%s: %s", path, fileProblem(err)))
		case len(found) == 0 && !in.recursive:
			problems = append(problems, refuse("%s: no manifests (*.yaml, *.yml, *.json) in this folder; -R looks into the folders in it too", path))
		case len(found) == 0:
			problems = append(problems, refuse("%s: no manifests (*.yaml, *.yml, *.json) in this folder", path))
		}
		paths = append(paths, found...)
	}
	return paths, problems
}

func manifestsIn(folder string, recursive bool) (paths []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && !recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

func opener(ctx context.Context, a *app, path string) (name string, open func() (io.ReadCloser, error)) {
	switch {
	case path == "-":
		return stdinName, func() (io.ReadCloser, error) { return io.NopCloser(a.In), nil }
	case isAddress(path):
		return path, func() (io.ReadCloser, error) { return fetch(ctx, path) }
	}
	return path, func() (io.ReadCloser, error) { return os.Open(path) }
}

func isAddress(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://")
}

// fetchTime bounds the reading of a manifest from an address.
const fetchTime = 30 * time.Second

// fetch asks for a manifest that the user named; nothing but the request itself is sent.
func fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := (&http.Client{Timeout: fetchTime}).Do(req)
	if err != nil {
		return nil, cluster.Plain(err)
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close() // the status is the answer
		return nil, fmt.Errorf("the server answers %s", res.Status)
	}
	return res.Body, nil
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
func fileProblem(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
