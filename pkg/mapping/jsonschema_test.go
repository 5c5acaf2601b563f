package mapping

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

var updateSchema = flag.Bool("update-schema", false, "rewrite docs/schema")

const schemaFolder = "../../docs/schema"

// schemaMaker makes a JSON Schema of Go types, by the same walk as the strict decoder's.
type schemaMaker struct {
	fields *schema
	defs   map[string]any
}

func (m *schemaMaker) of(t reflect.Type) any {
	t = bare(t)
	word := func(types ...any) any { return map[string]any{"type": append([]any{}, types...)} }
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString]():
		return word("string", "number")
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return word("string", "null")
	case reflect.TypeFor[metav1.FieldsV1]():
		return word("object")
	}
	switch t.Kind() {
	case reflect.Struct:
		return m.object(t)
	case reflect.Map:
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": m.of(t.Elem())}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return word("string", "null")
		}
		return map[string]any{"type": []any{"array", "null"}, "items": m.of(t.Elem())}
	case reflect.Bool:
		return word("boolean", "null")
	case reflect.Int32, reflect.Int64, reflect.Int:
		return word("integer", "null")
	}
	return word("string", "null")
}

func (m *schemaMaker) object(t reflect.Type) any {
	name := strings.ReplaceAll(filepath.Base(filepath.Dir(t.PkgPath()))+"."+filepath.Base(t.PkgPath())+"."+t.Name(), "/", ".")
	ref := map[string]any{"$ref": "#/$defs/" + name}
	if _, known := m.defs[name]; known {
		return ref
	}
	m.defs[name] = nil // types may hold themselves
	properties := map[string]any{}
	for _, f := range m.fields.of(t) {
		properties[f.name] = m.of(f.typ)
	}
	m.defs[name] = map[string]any{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": false}
	return ref
}

func makeSchema(t *testing.T, version string, work reflect.Type) []byte {
	t.Helper()
	m := &schemaMaker{fields: &schema{fields: map[reflect.Type][]field{}}, defs: map[string]any{}}
	root := m.of(work)
	tree := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Work of " + version, "$defs": m.defs,
		"allOf":      []any{root},
		"required":   []any{"apiVersion", "kind", "metadata", "spec"},
		"properties": map[string]any{"apiVersion": map[string]any{"const": version}, "kind": map[string]any{"const": v1beta2.Kind}},
	}
	data, err := json.MarshalIndent(tree, "", " ")
	require.NoError(t, err)
	return append(data, '\n')
}

// The schemas for editors are those of the types, and say what the decoder says.
func TestPublishedSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, version string
		work          reflect.Type
	}{
		{"v1beta2", v1beta2.GroupVersion.String(), reflect.TypeFor[v1beta2.Work]()},
		{"v1alpha1", v1alpha1.GroupVersion.String(), reflect.TypeFor[v1alpha1.Work]()},
	} {
		path := filepath.Join(schemaFolder, "work-"+c.name+".json")
		want := makeSchema(t, c.version, c.work)
		if *updateSchema {
			require.NoError(t, os.MkdirAll(schemaFolder, 0o755)) //nolint:gosec // documentation is for everyone
			require.NoError(t, os.WriteFile(path, want, 0o644))  //nolint:gosec // as above
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s is behind the types: run the test with -update-schema", path)

		tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource(c.name, tree))
		schema, err := compiler.Compile(c.name)
		require.NoError(t, err)
		valid := func(text string) error {
			data, err := sigsyaml.YAMLToJSON([]byte(text))
			require.NoError(t, err)
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
			require.NoError(t, err)
			return schema.Validate(document)
		}
		head := "apiVersion: " + c.version + "\nkind: Work\nmetadata: {name: etl, labels: {a: b}}\nspec:\n  template:\n    spec:\n      containers:\n"
		require.NoError(t, valid(head+"      - {name: main, image: a, resources: {limits: {memory: 16Mi, cpu: 2}}}\n  maxRetries: 2\n"))
		require.Error(t, valid(head+"      - {name: main, image: a, comand: [x]}\n"))
		require.Error(t, valid(head+"      - {name: main, image: a}\n  maxRetries: two\n"))
		require.Error(t, valid("kind: Work\n"))
	}
}

// The examples are what the schema takes, so that an editor does not mark them.
func TestExamplesFitTheSchema(t *testing.T) {
	t.Parallel()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(makeSchema(t, v1beta2.GroupVersion.String(), reflect.TypeFor[v1beta2.Work]())))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("work", tree))
	schema, err := compiler.Compile("work")
	require.NoError(t, err)
	files, err := filepath.Glob("../../examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		data, err := sigsyaml.YAMLToJSON(text)
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(document), file)
	}
}
