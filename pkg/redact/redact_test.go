package redact_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/redact"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"postgres://etl:hunter2@db/x failed":                    "postgres://[redacted]@db/x failed",
		"https://user:p%40ss@host/path?x=1":                     "https://[redacted]@host/path?x=1",
		"Authorization: Bearer abcdef0123456789":                "Authorization: Bearer [redacted]",
		"token eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl said": "token [redacted] said",
		"--password=hunter2 --user=etl":                         "--password=[redacted] --user=etl",
		`{"apiKey": "k-1", "rows": 3}`:                          `{"apiKey": [redacted], "rows": 3}`,
		"export AWS_SECRET_ACCESS_KEY=abc DB_PASSWORD='x y'":    "export AWS_SECRET_ACCESS_KEY=[redacted] DB_PASSWORD=[redacted]",
		"AKIAABCDEFGHIJKLMNOP in use":                           "[redacted] in use",
		// Nothing of this is a credential.
		`secret "no-such-secret" not found`:                 `secret "no-such-secret" not found`,
		"couldn't find key token in Secret ns/db":           "couldn't find key token in Secret ns/db",
		"pulling image registry.example.com/team/app:1":     "pulling image registry.example.com/team/app:1",
		"http://10.0.0.1:8080/healthz refused":              "http://10.0.0.1:8080/healthz refused",
		"references non-existent config key: settings.yaml": "references non-existent config key: settings.yaml",
	} {
		require.Equal(t, want, redact.Text(text))
	}
}

func TestJobKeepsItsShapeAndLosesItsValues(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	job.Annotations = map[string]string{work.AnnotationSpec: "{}", work.AnnotationSubmittedBy: "ann", work.AnnotationLastApplied: "{}"}
	job.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "main", Command: []string{"run", "--token=abc"},
		Env: []corev1.EnvVar{{Name: "DB", Value: "x"}, {Name: "FROM", ValueFrom: &corev1.EnvVarSource{}}},
	}}
	got := redact.Job(job)
	require.Equal(t, map[string]string{work.AnnotationSubmittedBy: "ann"}, got.Annotations)
	main := got.Spec.Template.Spec.Containers[0]
	require.Equal(t, []string{"run", "--token=[redacted]"}, main.Command)
	require.Equal(t, redact.Mark, main.Env[0].Value)
	require.Empty(t, main.Env[1].Value)
	require.Equal(t, "x", job.Spec.Template.Spec.Containers[0].Env[0].Value, "the original stays as it is")
}
