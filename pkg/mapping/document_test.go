package mapping

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const positioned = `apiVersion: kubectl-work.dev/v1beta2
kind: Work
metadata:
  name: etl
  labels:
    app.kubernetes.io/name: etl
    foo: bar
spec:
  maxRetries: 3
  cleanupPolicy:
    ttlSecondsAfterFinished: 30
  template:
    metadata:
      labels: {tier: batch}
    spec:
      containers:
      - name: main
        image: i
        env:
        - {name: A, value: "1"}
        - {name: B, value: "2"}
      - name: side
        image: j
`

func TestPosition(t *testing.T) {
	documents, problems := Read("etl.yaml", []byte(positioned), DecodeOptions{})
	require.NoError(t, problems.Err())
	tests := []struct {
		path         string
		line, column int
	}{
		{"", 1, 1},
		{"kind", 2, 7},
		{"metadata", 3, 1},
		{"metadata.name", 4, 9},
		{"metadata.labels[foo]", 7, 10},
		{"metadata.labels[app.kubernetes.io/name]", 6, 29},
		{"metadata.labels.app.kubernetes.io/name", 6, 29},
		{"metadata.labels[none]", 5, 3},
		{"metadata.annotations[none]", 3, 1},
		{"spec.parallelism", 8, 1},
		{"spec.template.labels", 14, 7},
		{"spec.template.labels[tier]", 14, 22},
		{"spec.template.annotations", 13, 5},
		{"spec.template.spec.restartPolicy", 15, 5},
		{"spec.template.spec.containers[0].env[1].value", 21, 28},
		{"spec.template.spec.containers[0].resources.limits[cpu]", 17, 9},
		{"spec.template.spec.containers[1].image", 23, 16},
		{"spec.template.spec.containers[side].image", 23, 16},
		{`spec.template.spec.containers[name="side"].image`, 23, 16},
		{"spec.template.spec.containers[7].image", 16, 7},
		{"nonsense..[", 1, 1},
	}
	for _, test := range tests {
		line, column := documents[0].Position(test.path)
		assert.Equal(t, [2]int{test.line, test.column}, [2]int{line, column}, test.path)
	}
}

// TestFieldProblems: the server speaks of the Job it was sent; the user wrote a Work.
func TestFieldProblems(t *testing.T) {
	documents, problems := Read("etl.yaml", []byte(positioned), DecodeOptions{})
	require.NoError(t, problems.Err())
	got := FieldProblems(documents[0], []metav1.StatusCause{
		{Field: "spec.template", Message: `Invalid value: core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:""}, Spec: {}}: field is immutable`},
		{Field: "spec.backoffLimit", Message: `Invalid value: -1: must be greater than or equal to 0`},
		{Field: "spec.ttlSecondsAfterFinished", Message: "Invalid value: 30: too short"},
		{Field: "spec.template.labels", Message: `Invalid value: "x y": a valid label must be an empty string`},
		{Field: "spec.template.spec.containers[1].image", Message: "Required value"},
	})
	assert.Equal(t, `etl.yaml:9:15: spec.maxRetries: Invalid value: -1: must be greater than or equal to 0
etl.yaml:11:30: spec.cleanupPolicy.ttlSecondsAfterFinished: Invalid value: 30: too short
etl.yaml:12:3: spec.template: field is immutable
etl.yaml:14:7: spec.template.metadata.labels: Invalid value: "x y": a valid label must be an empty string
etl.yaml:23:16: spec.template.spec.containers[1].image: Required value`, got.Error())
}

func TestDuplicates(t *testing.T) {
	const second = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: etl}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}\n"
	a, problems := Read("a.yaml", []byte(positioned), DecodeOptions{})
	require.NoError(t, problems.Err())
	b, problems := Read("b.yaml", []byte(second), DecodeOptions{})
	require.NoError(t, problems.Err())
	assert.Empty(t, Duplicates(a))
	assert.Equal(t, "b.yaml:3:18: metadata.name: etl is the name of another document too (a.yaml:4); give each a name of its own",
		Duplicates(append(a, b...)).Error())
}

func TestParseFactor(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1/1", "1.5": "3/2", "1.50": "3/2", "2.25": "9/4", "10": "10/1",
		"": `"" is not a decimal number`, "x": `"x" is not a decimal number`, "1e3": `"1e3" is not a decimal number`,
		"1.": `"1." is not a decimal number`, ".5": `".5" is not a decimal number`, "-2": `"-2" is not a decimal number`,
		"3/2": `"3/2" is not a decimal number`, "0.99": `"0.99" is less than 1`, "0": `"0" is less than 1`,
		"1.00000000000000001": `"1.00000000000000001" is not a decimal number`,
	} {
		factor, err := ParseFactor(text)
		if err != nil {
			assert.Equal(t, want, err.Error())
			continue
		}
		assert.Equal(t, want, factor.String())
	}
}
