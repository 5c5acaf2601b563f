// Package build makes the heavy programs from the sources that the driver carries, once a machine.
//
// It owns the folders below the cache, each named by a hash over all that goes into what it holds: sources, platform,
// Go version, flags. A folder that is there is complete, for it is renamed into place when it is (TestHash). It never
// changes one that is there, so that clones and CI runs share them, and another user may read them.
package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/lock"
)

// Program is something to build.
type Program struct {
	Name    string // of the file that comes out
	Package string // what go build is given
	Sources fs.FS
	Rename  map[string]string // where a source file goes, if not where it is
	Flags   []string
	Notice  string   // said before it is built
	Modules []string // module folders to keep beside the program: MODULE/FOLDER
}

// Builder builds programs into a cache.
type Builder struct {
	Cache    string // folder above all built programs
	Say      io.Writer
	Terminal bool // whether a line may be written over
	Go       string
}

// Find returns the folder of a program that is built already.
func (b Builder) Find(p Program) (folder string, err error) {
	hash, err := p.Hash()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(b.Cache, hash)
	_, err = os.Stat(filepath.Join(folder, p.Name))
	return folder, err
}

// Ensure returns the folder that holds the program, and builds it if it is not there. Of several callers one builds,
// the others wait for it.
func (b Builder) Ensure(ctx context.Context, p Program) (folder string, err error) {
	if folder, err = b.Find(p); !errors.Is(err, fs.ErrNotExist) {
		return folder, err
	}
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return "", err
	}
	release, err := lock.Take(ctx, b.Cache, func() {
		fmt.Fprintln(b.Say, "Waiting for another build of the sandbox to end.")
	})
	if err != nil {
		return "", err
	}
	defer release()
	if folder, err = b.Find(p); !errors.Is(err, fs.ErrNotExist) {
		return folder, err
	}
	if err := b.removeUnfinished(); err != nil {
		return "", err
	}
	fmt.Fprintln(b.Say, p.Notice)
	fresh, err := os.MkdirTemp(b.Cache, unfinished)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	if err := b.build(ctx, p, fresh); err != nil {
		return "", fmt.Errorf("build %s: %w", p.Name, err)
	}
	return folder, os.Rename(filepath.Join(fresh, "out"), folder)
}

// unfinished begins the names of folders that are built in.
const unfinished = "building-"

// removeUnfinished removes what builds left that were killed.
func (b Builder) removeUnfinished() error {
	folders, err := filepath.Glob(filepath.Join(b.Cache, unfinished+"*"))
	for _, folder := range folders {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return err
}

// build leaves the finished folder at fresh/out.
func (b Builder) build(ctx context.Context, p Program, fresh string) error {
	source, out := filepath.Join(fresh, "source"), filepath.Join(fresh, "out")
	if err := p.unpack(source); err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	if err := b.checkGo(ctx, source); err != nil {
		return err
	}
	total, err := b.countPackages(ctx, p, source)
	if err != nil {
		return err
	}
	cmd := b.goCommand(ctx, source, slices.Concat([]string{"build", "-v"}, p.Flags, []string{"-o", filepath.Join(out, p.Name), p.Package})...)
	progress := newProgress(b.Say, b.Terminal, total)
	cmd.Stderr = progress
	err = cmd.Run()
	progress.close()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, progress.complaints())
	}
	for _, kept := range p.Modules {
		if err := b.keep(ctx, source, kept, out); err != nil {
			return err
		}
	}
	return nil
}

// checkGo makes sure that what is built is what the hash says.
func (b Builder) checkGo(ctx context.Context, source string) error {
	output, err := b.goCommand(ctx, source, "env", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("the sandbox is built from source and needs Go: %w", err)
	}
	if version := strings.TrimSpace(string(output)); version != runtime.Version() {
		return fmt.Errorf("this program was built by %s, the go command is now %s: build this program anew", runtime.Version(), version)
	}
	return nil
}

// countPackages also fetches the modules, which go does not count.
func (b Builder) countPackages(ctx context.Context, p Program, source string) (int, error) {
	var complaint strings.Builder
	cmd := b.goCommand(ctx, source, "list", "-deps", p.Package)
	cmd.Stderr = &complaint
	output, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, complaint.String())
	}
	return strings.Count(string(output), "\n"), nil
}

// keep copies the files of a module's folder beside the program.
func (b Builder) keep(ctx context.Context, source, kept, out string) error {
	module, folder, _ := strings.Cut(kept, "//")
	output, err := b.goCommand(ctx, source, "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find module %s: %w", module, err)
	}
	return os.CopyFS(filepath.Join(out, filepath.FromSlash(folder)), os.DirFS(filepath.Join(strings.TrimSpace(string(output)), filepath.FromSlash(folder))))
}

func (b Builder) goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	program := b.Go
	if program == "" {
		program = "go"
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GO111MODULE=on", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	return cmd
}

// Hash names what is built: any change of what goes in gives another name.
func (p Program) Hash() (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s/%s %s\n%s %q\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), p.Package, append(slices.Clone(p.Flags), p.Modules...))
	err := p.walk(func(name string, data []byte) error {
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		_, err := sum.Write(data)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:20], err
}

func (p Program) unpack(to string) error {
	return p.walk(func(name string, data []byte) error {
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o644)
	})
}

// walk visits the sources in the order of their names.
func (p Program) walk(visit func(name string, data []byte) error) error {
	return fs.WalkDir(p.Sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(p.Sources, name)
		if err != nil {
			return err
		}
		if other, ok := p.Rename[name]; ok {
			name = other
		}
		return visit(name, data)
	})
}
