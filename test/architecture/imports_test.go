// Package architecture keeps the code to the table of packages in docs/architecture.md.
//
// The page is the rule: a package without a row, a row without a package and an import that the row does not list all
// fail. It reads the import graph only and never the behaviour.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	page   = root + "/docs/architecture.md"
	module = "github.com/kubectl-work/kubectl-work/"
)

// goPackage is the part of `go list -json` that is needed here.
type goPackage struct {
	Dir          string
	ImportPath   string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// row is a line of the table: a package with everything below it.
type row struct {
	path      string
	pure      bool
	mayImport []string
}

func TestImportsPointOneWay(t *testing.T) {
	rows := readTable(t)
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		r, ok := rowOf(rows, p.ImportPath)
		if !ok {
			t.Errorf("%s has no row in the table of docs/architecture.md", p.ImportPath)
			continue
		}
		used[r.path] = true
		for _, imported := range forbiddenImports(r, p.Imports) {
			t.Errorf("%s must not import %s", p.ImportPath, imported)
		}
		forTests := row{path: r.path, mayImport: append(slices.Clone(r.mayImport), "test")}
		for _, imported := range forbiddenImports(forTests, slices.Concat(p.TestImports, p.XTestImports)) {
			t.Errorf("the tests of %s must not import %s", p.ImportPath, imported)
		}
	}
	for _, r := range rows {
		if !used[r.path] {
			t.Errorf("docs/architecture.md has a row for %s, and there is no such package", r.path)
		}
	}
}

// impureImports are packages that reach out of the program, and those below them.
var impureImports = []string{
	"os", "net", "syscall", "log", "math/rand", "crypto/rand",
	"k8s.io/client-go", "k8s.io/cli-runtime/pkg/genericclioptions", "k8s.io/cli-runtime/pkg/resource", "k8s.io/klog",
}

// clientPackages must not come in by a detour either.
var clientPackages = []string{
	"k8s.io/client-go/kubernetes", "k8s.io/client-go/rest", "k8s.io/client-go/dynamic", "k8s.io/client-go/metadata",
	"k8s.io/client-go/discovery", "k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/clientcmd",
}

// clockCalls are the functions that read a clock or wait for one, by import path.
var clockCalls = map[string][]string{
	"time":                                 {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Now", "NowMicro"},
}

func TestPurePackagesReachNothing(t *testing.T) {
	rows := readTable(t)
	checked := 0
	for _, p := range listPackages(t) {
		if r, _ := rowOf(rows, p.ImportPath); !r.pure {
			continue
		}
		checked++
		for _, imported := range p.Imports {
			if isBelowAny(imported, impureImports) && imported != "net/url" { // which only reads text
				t.Errorf("%s is pure and must not import %s", p.ImportPath, imported)
			}
		}
		for _, dependency := range p.Deps {
			if isBelowAny(dependency, clientPackages) {
				t.Errorf("%s is pure and must not depend on %s", p.ImportPath, dependency)
			}
		}
		for _, name := range p.GoFiles {
			for _, call := range clockCallsIn(t, filepath.Join(p.Dir, name)) {
				t.Errorf("%s is pure and must not call a clock: %s", p.ImportPath, call)
			}
		}
	}
	require.NotZero(t, checked, "no pure package was found: is the table still read?")
}

// forbiddenImports are those of imports that are ours and that r does not allow.
func forbiddenImports(r row, imports []string) []string {
	var forbidden []string
	for _, imported := range imports {
		path, ours := strings.CutPrefix(imported, module)
		if !ours || isBelowAny(path, append(slices.Clone(r.mayImport), r.path)) {
			continue
		}
		forbidden = append(forbidden, path)
	}
	return forbidden
}

// rowOf finds the row that a package stands in: the one with the longest path.
func rowOf(rows []row, importPath string) (row, bool) {
	var best row
	for _, r := range rows {
		if isBelow(strings.TrimPrefix(importPath, module), r.path) && len(r.path) > len(best.path) {
			best = r
		}
	}
	return best, best.path != ""
}

func isBelowAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return isBelow(path, folder) })
}

func isBelow(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// readTable reads the rows of the page: package, pure, owns, must not know, may import.
func readTable(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	var rows []row
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		r := row{
			path: strings.Trim(strings.TrimSpace(cells[1]), "`"),
			pure: strings.TrimSpace(cells[2]) == "yes",
		}
		for name := range strings.FieldsSeq(cells[5]) {
			r.mayImport = append(r.mayImport, strings.Trim(name, "`"))
		}
		rows = append(rows, r)
	}
	require.NotEmpty(t, rows, "docs/architecture.md has no table of packages")
	return rows
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list",
		"-json=Dir,ImportPath,GoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())

	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

// clockCallsIn lists the uses of clockCalls in a file, each with its position.
func clockCallsIn(t *testing.T, file string) []string {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)

	names := map[string]string{} // name in the file → import path
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(clockCalls[names[x.Name]], selector.Sel.Name) {
			found = append(found, files.Position(selector.Pos()).String()+": "+x.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}
