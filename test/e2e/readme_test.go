package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// TestReadme runs the README's quick start and both of its CI gates as they stand there; only the image is the
// sandbox's. A command of the README that does not work fails here.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	quick, gating := section(t, string(data), "Quick start on your own cluster"), section(t, string(data), "Gating CI")
	work := strings.ReplaceAll(block(t, quick, "yaml"), "image: busybox", "image: busybox:local")
	name, run, submitID := githubStep(t, block(t, gating, "yaml"))
	scripts := map[string]string{
		"readme-quick-start": block(t, quick, "sh"),
		"readme-shell-gate":  block(t, gating, "sh"),
		"readme-github-gate": "# " + name + "\n" + run,
	}
	var files []string
	dir := t.TempDir()
	for name, text := range scripts {
		archive := txtar.Format(&txtar.Archive{
			Comment: fmt.Appendf(nil, "env KUBECTL_WORK_SUBMIT_ID=%s\nexec sh -eu block.sh\n", submitIDOf(name, submitID)),
			Files:   []txtar.File{{Name: "hello.yaml", Data: []byte(work)}, {Name: "block.sh", Data: []byte(text)}},
		})
		path := filepath.Join(dir, name+".txtar")
		require.NoError(t, os.WriteFile(path, archive, 0o600))
		files = append(files, path)
	}
	s, err := newSuite(t.Context(), t.TempDir())
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{Files: files, Setup: s.setup, Cmds: commands()})
}

// submitIDOf gives the id that a pipeline would set to the script of the pipeline only.
func submitIDOf(script, id string) string {
	if script == "readme-github-gate" {
		return id
	}
	return ""
}

// section is the text below a heading, up to the next one of its level.
func section(t *testing.T, page, title string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n## "+title+"\n")
	require.True(t, found, "the README has no section %q", title)
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// block is the first fenced block of a language in a section.
func block(t *testing.T, text, language string) string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, blocks, "no %s block", language)
	return blocks[0][1]
}

// githubStep is the last step of a workflow: its name, what it runs, and the submit id with the expressions filled in.
func githubStep(t *testing.T, text string) (name, run, submitID string) {
	t.Helper()
	var workflow struct {
		Steps []struct {
			Name string            `json:"name"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(text), &workflow))
	require.NotEmpty(t, workflow.Steps)
	step := workflow.Steps[len(workflow.Steps)-1]
	submitID = strings.NewReplacer("${{ github.run_id }}", "4711", "${{ github.run_attempt }}", "1").Replace(step.Env["KUBECTL_WORK_SUBMIT_ID"])
	require.Equal(t, "4711-1", submitID)
	return step.Name, step.Run, submitID
}
