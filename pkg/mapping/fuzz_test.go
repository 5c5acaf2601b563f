package mapping

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// seeds are every input of the other tests.
func seeds(f *testing.F) {
	f.Helper()
	cases, err := filepath.Glob("testdata/cases/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, cases)
	for _, file := range cases {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	goldens, err := filepath.Glob("testdata/decode/*.txtar")
	require.NoError(f, err)
	require.NotEmpty(f, goldens)
	for _, file := range goldens {
		archive, err := txtar.ParseFile(file)
		require.NoError(f, err)
		f.Add(archive.Files[0].Data)
	}
}

// FuzzDecode: no input makes the reader panic, hang, return a document without a Work, or a problem without a place
// that lies in the file.
func FuzzDecode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		documents, problems := Read("f.yaml", data, DecodeOptions{})
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%d bytes took %s", len(data), took)
		}
		if len(documents) == 0 && len(problems) == 0 {
			t.Fatal("neither documents nor problems")
		}
		lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + 2
		for _, p := range problems {
			if p.Message == "" || p.Line < 0 || (p.Line > lines && bytes.IndexFunc(data, otherBreak) < 0) {
				t.Fatalf("odd problem %+v", p)
			}
		}
		for _, d := range documents {
			if d.Work == nil {
				t.Fatal("a document without a Work")
			}
		}
	})
}

// otherBreak are line breaks for YAML only.
func otherBreak(r rune) bool { return r == 0x85 || r == 0x2028 || r == 0x2029 }

// bareTag is the tag "!", which the parser with positions does not hand on. Nobody writes it.
var bareTag = regexp.MustCompile(`![\s,\]}]|!$`)

// FuzzMeaning: a document means to us what it means to kubectl, byte for byte as JSON, or we refuse it.
func FuzzMeaning(f *testing.F) {
	seeds(f)
	for _, seed := range []string{
		"a: yes\nb: 0123\nc: 1e3\nd: 1.20\ne: ~\nf: 0x1F\ng: 0b11\nh: 1_000\ni: 2001-12-14\nj: 12:30:45\nk: =\nl: .5\nm: +1\nn: -0\no: 0o17",
		"base: &b {x: 1, y: 2}\nmine: {<<: *b, y: 3}\nother:\n  <<: [*b, {z: 4}]\n",
		"late: {y: 3, <<: {x: 1, y: 2}}",
		"a: !!str 12\nb: !!int \"3\"\nc: !!binary aGk=\nd: !!float 3\ne: !x 12\ng: !!bool \"yes\"\nh: !!null x",
		"1: a\ntrue: b\n1.5: c\n", "a: |\n  x\n  y\nb: >-\n  x\n  y\nc: \"\\u00e9\\/\"\nd: 'it''s'\n",
		"a: 123456789012345678901234567890\nb: 18446744073709551615\nc: 1e400\nd: -.inf\ne: 1e21\nf: 0.1e-7",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, problem := clean(data)
		if problem != nil {
			return
		}
		chunks := split(text)
		if len(chunks) != 1 || bareTag.MatchString(text) {
			return
		}
		nodes, err := parse(chunks[0].text)
		if err != nil || len(nodes) != 1 {
			return
		}
		refused := false
		c := newConverter(func(int, int, string, string, string) { refused = true }, newScalars(), 0, 0)
		v := c.convert(nodes[0], nil, 0)
		if refused {
			return
		}
		want, err := sigsyaml.YAMLToJSON([]byte(text))
		if err != nil {
			return // kubectl refuses it, for its own reasons
		}
		var b bytes.Buffer
		v.encode(&b)
		var ours, theirs any
		require.NoError(t, json.Unmarshal(b.Bytes(), &ours), b.String())
		require.NoError(t, json.Unmarshal(want, &theirs))
		require.Equal(t, theirs, ours, text)
	})
}

// FuzzConversion: no random document loses anything between the versions.
func FuzzConversion(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) {
		hub := &v1beta2.Work{}
		filler(seed).Fill(hub)
		hub.APIVersion, hub.Kind = v1beta2.GroupVersion.String(), v1beta2.Kind
		hub = through(t, hub)
		alpha, _, err := ToV1alpha1(hub)
		require.NoError(t, err)
		again, _, err := FromV1alpha1(through(t, alpha))
		require.NoError(t, err)
		require.Equal(t, text(t, hub), text(t, again))
	})
}
