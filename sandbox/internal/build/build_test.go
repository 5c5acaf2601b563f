package build

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-work/kubectl-work/sandbox"
)

func program() Program {
	return Program{Name: "x", Package: "./cmd/x", Flags: []string{"-trimpath"}, Sources: fstest.MapFS{
		"go.mod":        {Data: []byte("module example.org/x\n\ngo 1.26.0\n")},
		"cmd/x/main.go": {Data: []byte("package main\n\nfunc main() { println(\"x\") }\n")},
	}}
}

func hash(t *testing.T, p Program) string {
	t.Helper()
	h, err := p.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHash(t *testing.T) {
	want := hash(t, program())
	if got := hash(t, program()); got != want {
		t.Errorf("not stable: %s, %s", got, want)
	}
	seen := map[string]string{want: "unchanged"}
	for name, change := range map[string]func(*Program, fstest.MapFS){
		"flag":     func(p *Program, _ fstest.MapFS) { p.Flags = []string{"-race"} },
		"package":  func(p *Program, _ fstest.MapFS) { p.Package = "./cmd/y" },
		"module":   func(p *Program, _ fstest.MapFS) { p.Modules = []string{"m//f"} },
		"content":  func(_ *Program, f fstest.MapFS) { f["go.mod"] = &fstest.MapFile{Data: []byte("module y")} },
		"new file": func(_ *Program, f fstest.MapFS) { f["cmd/x/b.go"] = &fstest.MapFile{} },
		"new name": func(_ *Program, f fstest.MapFS) { f["cmd/x/c.go"] = f["cmd/x/main.go"]; delete(f, "cmd/x/main.go") },
		"place":    func(p *Program, _ fstest.MapFS) { p.Rename = map[string]string{"go.mod": "go.work"} },
	} {
		p, files := program(), maps.Clone(program().Sources.(fstest.MapFS))
		p.Sources = files
		change(&p, files)
		got := hash(t, p)
		if other, ok := seen[got]; ok {
			t.Errorf("%s: same hash as %s", name, other)
		}
		seen[got] = name
	}
}

func TestEnsureBuildsOnce(t *testing.T) {
	var said bytes.Buffer
	b := Builder{Cache: t.TempDir(), Say: &said}
	p := program()
	p.Notice = "Building x."
	if err := os.Mkdir(filepath.Join(b.Cache, unfinished+"killed"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		folder, err := b.Ensure(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(folder, "x")); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(said.String(), p.Notice) != 1 {
		t.Errorf("said %q", said.String())
	}
	if entries, err := os.ReadDir(b.Cache); err != nil || len(entries) != 1 {
		t.Errorf("left in the cache: %v, %v", entries, err)
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	b := Builder{Cache: t.TempDir(), Say: &bytes.Buffer{}}
	p := program()
	p.Sources.(fstest.MapFS)["cmd/x/main.go"].Data = []byte("package main\n\nfunc main() { undefinedThing() }\n")
	_, err := b.Ensure(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "undefinedThing") {
		t.Errorf("the compiler's complaint is missing: %v", err)
	}
	if entries, err := os.ReadDir(b.Cache); err != nil || len(entries) != 0 {
		t.Errorf("left in the cache: %v, %v", entries, err)
	}
}

func TestProgress(t *testing.T) {
	for name, test := range map[string]struct {
		terminal bool
		want     string
	}{
		"terminal": {true, "  compiled 1 packages of at most 9\r  compiled 2 packages of at most 9\r  compiled 2 packages of at most 9\n"},
		"file":     {false, ""}, // too short for a line
	} {
		var out bytes.Buffer
		p := newProgress(&out, test.terminal, 9)
		for _, piece := range []string{"k8s.io/a", "pi\nk8s.io/b\n", "# k8s.io/b\nb.go:3: oh\n"} {
			if _, err := p.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		p.close()
		if out.String() != test.want {
			t.Errorf("%s: %q", name, out.String())
		}
		if got := p.complaints(); got != "# k8s.io/b\nb.go:3: oh\n" {
			t.Errorf("%s: complaints %q", name, got)
		}
	}
}

func TestVersionIsPinned(t *testing.T) {
	data, err := fs.ReadFile(sandbox.Kube, "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`).FindSubmatch(data)
	if found == nil || string(found[1]) != KubernetesVersion {
		t.Errorf("go.mod has %s, the driver stamps %s", found, KubernetesVersion)
	}
}

func TestKwokModuleIsPutInPlace(t *testing.T) {
	var names []string
	if err := Kwok().walk(func(name string, _ []byte) error { names = append(names, name); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names, []string{"go.mod", "go.sum"}) {
		t.Error(names)
	}
}
