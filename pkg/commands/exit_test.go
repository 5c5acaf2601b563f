package commands

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The exit codes are an API: the constants, their page and the order among them say the same.
func TestExitCodesPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/exit-codes.md")
	require.NoError(t, err)
	page := string(data)

	documented := map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| .+ \|$`).FindAllStringSubmatch(page, -1) {
		code, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		documented[row[2]] = code
	}
	assert.Equal(t, codeConstants(t), documented)

	order := regexp.MustCompile(`(?m)^130 or 143, ([\d, ]+)\.`).FindStringSubmatch(page)
	require.NotNil(t, order, "the page has no order")
	var want []Code
	for _, c := range worstFirst() {
		if c != CodeInterrupted && c != CodeTerminated {
			want = append(want, c)
		}
	}
	var got []Code
	for text := range strings.SplitSeq(order[1], ", ") {
		code, err := strconv.Atoi(text)
		require.NoError(t, err)
		got = append(got, Code(code))
	}
	assert.Equal(t, want, got)
	assert.Len(t, worstFirst(), len(documented), "every code has a place in the order")
}

// codeConstants reads the constants of type Code from the source, by name without the prefix.
func codeConstants(t *testing.T) map[string]int {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	codes := map[string]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind, ok := spec.Type.(*ast.Ident)
		if !ok || kind.Name != "Code" {
			return true
		}
		value, ok := spec.Values[0].(*ast.BasicLit)
		require.True(t, ok, spec.Names[0].Name)
		code, err := strconv.Atoi(value.Value)
		require.NoError(t, err)
		codes[strings.TrimPrefix(spec.Names[0].Name, "Code")] = code
		return true
	})
	return codes
}
