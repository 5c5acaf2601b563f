package commands

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubectl-work/kubectl-work/pkg/lint"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch/doctor"
)

var update = flag.Bool("update", false, "rewrite docs/reference from the commands")

const (
	referenceFolder = "../../docs/reference"
	referenceIndex  = "README.md"
	generated       = "<!-- Made from the commands by go test ./pkg/commands -run TestReference -update; edits are lost. -->\n\n"
)

// The reference is what the commands say of themselves: a page a command, nothing else in the folder.
func TestReference(t *testing.T) {
	t.Parallel()
	root := newRootCommand(testApp(nil, io.Discard))
	pages := map[string]string{referenceIndex: indexPage(root)}
	for _, cmd := range root.Commands() {
		pages[cmd.Name()+".md"] = commandPage(cmd)
	}
	if *update {
		require.NoError(t, os.RemoveAll(referenceFolder))
		require.NoError(t, os.MkdirAll(referenceFolder, 0o755)) //nolint:gosec // documentation is for everyone
		for name, text := range pages {
			require.NoError(t, os.WriteFile(filepath.Join(referenceFolder, name), []byte(text), 0o644)) //nolint:gosec // as above
		}
	}
	found, err := os.ReadDir(referenceFolder)
	require.NoError(t, err)
	for _, file := range found {
		assert.Contains(t, pages, file.Name(), "no command has this page")
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(referenceFolder, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), "%s is behind the commands: run the test with -update", name)
	}
}

// The page of rules is what the judge says of itself.
func TestRulesPage(t *testing.T) {
	t.Parallel()
	const path = "../../docs/rules.md"
	want := "# Why a run is as it is: the rules\n\n" +
		"<!-- Made from pkg/status by go test ./pkg/commands -run TestRulesPage -update; edits are lost. -->\n\n" +
		"`describe`, `wait` and `list` say why with the findings of these rules, in this order: the first that matches gives the\n" +
		"verdict. `kubectl work describe --explain RULE` prints an entry. A reason is *provoked* when an end-to-end test brings it\n" +
		"about on a real cluster, *captured* when a snapshot of a real cluster shows it, and *unseen* when it follows from\n" +
		"documentation and source alone; findings with an unseen reason say `confidence low`.\n\n" + render.RuleTable(status.Rules())
	want = strings.TrimRight(want, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644)) //nolint:gosec // documentation is for everyone
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "docs/rules.md is behind the rules: run the test with -update")
}

// The page of lint rules is what they say of themselves.
func TestLintPage(t *testing.T) {
	t.Parallel()
	const path = "../../docs/lint.md"
	want := "# What lint looks for\n\n" +
		"<!-- Made from pkg/lint by go test ./pkg/commands -run TestLintPage -update; edits are lost. -->\n\n" +
		"`kubectl work lint -f FILE` needs no cluster. What the API would refuse is `invalid` and always gives code 1; a remark of\n" +
		"one of these rules does so under `--strict`. `--skip RULE` leaves a rule out.\n" +
		"`--pod-security=LEVEL` adds the checks of that level, as the API server of the pinned version makes them.\n\n" + render.LintTable(lint.Rules())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644)) //nolint:gosec // documentation is for everyone
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "docs/lint.md is behind the rules: run the test with -update")
}

// The page of doctor is what its rules say of themselves.
func TestDoctorPage(t *testing.T) {
	t.Parallel()
	const path = "../../docs/doctor.md"
	want := "# What doctor finds\n\n" +
		"<!-- Made from pkg/watch/doctor by go test ./pkg/commands -run TestDoctorPage -update; edits are lost. -->\n\n" +
		"`kubectl work doctor` looks through a namespace for what is left behind and what stands in the way. Severity *error* means that\n" +
		"something cannot go on until somebody acts, and gives exit code 5; *warning* that somebody should look; *info* that it is\n" +
		"worth knowing. How each reason is known is as in [rules.md](rules.md).\n\n" + render.RuleTable(doctor.Rules())
	want = strings.TrimRight(want, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644)) //nolint:gosec // documentation is for everyone
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "docs/doctor.md is behind the rules: run the test with -update")
}

// What a person reads has no holes: every command says what it does, shows it, and explains each of its flags.
func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	root := newRootCommand(testApp(nil, io.Discard))
	for _, cmd := range root.Commands() {
		assert.NotEmpty(t, cmd.Short, cmd.Name())
		assert.NotEmpty(t, cmd.GroupID, cmd.Name())
		assert.False(t, strings.HasSuffix(cmd.Short, "."), "%s: %q", cmd.Name(), cmd.Short)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			assert.NotEmpty(t, f.Usage, "%s --%s", cmd.Name(), f.Name)
			assert.Nil(t, root.PersistentFlags().Lookup(f.Name), "%s --%s hides the flag of every command", cmd.Name(), f.Name)
		})
		if cmd.Name() == "options" {
			continue
		}
		assert.NotEmpty(t, cmd.Long, cmd.Name())
		assert.Contains(t, cmd.Example, "kubectl work "+cmd.Name(), cmd.Name())
	}
}

func indexPage(root *cobra.Command) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# kubectl work\n\n%s%s\n", generated, paragraphs(root.Long))
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				fmt.Fprintf(&b, "- [%s](%s.md): %s\n", cmd.Name(), cmd.Name(), lowerFirst(cmd.Short))
			}
		}
	}
	fmt.Fprintf(&b, "\n## Flags of every command\n\n```\n%s```\n", flagText(root.PersistentFlags()))
	return b.String()
}

func commandPage(cmd *cobra.Command) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# kubectl work %s\n\n%s%s.\n\n```\n%s\n```\n", cmd.Name(), generated, cmd.Short, cmd.UseLine())
	if cmd.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", paragraphs(cmd.Long))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", unindented(cmd.Example))
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\n## Flags\n\n```\n%s```\n", flagText(cmd.NonInheritedFlags()))
	}
	fmt.Fprintf(&b, "\nThe flags of every command are in the [index](%s#flags-of-every-command).\n", referenceIndex)
	return b.String()
}

// flagText lists flags, hidden ones too, without what depends on whose machine this is.
func flagText(flags *pflag.FlagSet) string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		plain := *f
		plain.Hidden = false
		if plain.Name == "cache-dir" {
			plain.DefValue = "$HOME/.kube/cache"
		}
		shown.AddFlag(&plain)
	})
	return shown.FlagUsages()
}

// paragraphs escapes what Markdown would read as a tag.
func paragraphs(text string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(unindented(text))
}

func unindented(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(line, " "), " "), " ")
	}
	return strings.Join(lines, "\n")
}

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }
