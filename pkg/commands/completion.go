package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"
)

type completionOptions struct {
	app  *app
	cmd  *cobra.Command
	what string
	dir  string
}

// shimTarget is the argument of completion that is no shell.
const shimTarget = "kubectl"

func completionTargets() []string { return []string{"bash", "zsh", "fish", "powershell", shimTarget} }

func newCompletionCommand(a *app, run func(context.Context, *completionOptions) error) *cobra.Command {
	o := &completionOptions{app: a}
	return &cobra.Command{
		Use:     "completion kubectl [DIR] | bash | zsh | fish | powershell",
		Short:   "Set up the completion of commands, names and flags",
		GroupID: groupOther,
		Long: templates.LongDesc(`
			Write what a shell needs to complete the command line.

			For kubectl work, kubectl itself asks: it runs a program named kubectl_complete-work when that is on PATH.
			"completion kubectl DIR" writes it there; without DIR it is printed. kubectl's own completion must be set up
			(kubectl completion --help).

			For the program under its own name, kubectl-work, the script of the shell is printed.`),
		Example: templates.Examples(`
			# Complete "kubectl work ..." in every shell in which kubectl completes
			kubectl work completion kubectl ~/.local/bin

			# Complete "kubectl-work ..." in this bash
			source <(kubectl-work completion bash)`),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return completionTargets(), cobra.ShellCompDirectiveNoFileComp
			case len(args) == 1 && args[0] == shimTarget:
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.cmd, o.what = cmd, args[0]
			if len(args) > 1 {
				o.dir = args[1]
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runCompletion(o)
		},
	}
}

func (o *completionOptions) validate() error {
	if !slices.Contains(completionTargets(), o.what) {
		return refuse("completion %s: give one of %s", o.what, strings.Join(completionTargets(), ", "))
	}
	if o.dir != "" && o.what != shimTarget {
		return refuse("completion %s %s: only completion %s takes a folder; the script is printed", o.what, o.dir, shimTarget)
	}
	return nil
}

func runCompletion(o *completionOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	root, out := o.cmd.Root(), o.app.Out
	switch o.what {
	case "bash":
		return root.GenBashCompletionV2(out, true)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	}
	if o.dir == "" {
		_, err := fmt.Fprint(out, shim)
		return err
	}
	return o.writeShim()
}

// shimName is the program that kubectl runs to complete "kubectl work".
const shimName = "kubectl_complete-work"

const shimMark = "# kubectl runs this to complete the command line of `kubectl work`."

// shim calls the program under its own name rather than through kubectl: a completion should not start kubectl twice.
const shim = "#!/bin/sh\n" + shimMark + `
exec kubectl-work __complete "$@"
`

// writeShim puts the script in place in one step, so that a shell never runs half of it. A file of somebody else stays.
func (o *completionOptions) writeShim() error {
	path := filepath.Join(o.dir, shimName)
	old, err := os.ReadFile(path)
	switch {
	case err == nil && !bytes.Contains(old, []byte(shimMark)):
		return refuse("%s is there and not ours: move it away first", path)
	case err == nil && string(old) == shim:
		_, err := fmt.Fprintf(o.app.Out, "%s unchanged\n", path)
		return err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return refuse("%v", err)
	}
	if err := replaceFile(path, []byte(shim)); err != nil {
		return refuse("%v", err)
	}
	if !slices.Contains(filepath.SplitList(o.app.Getenv("PATH")), filepath.Clean(o.dir)) {
		o.app.note("%s is not on PATH, so kubectl does not find it there", o.dir)
	}
	_, err = fmt.Fprintf(o.app.Out, "%s written\n", path)
	return err
}

func replaceFile(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is gone when all went well
	const executable = 0o755
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(executable), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// CommandLine returns the arguments of a command line. Under the name kubectl_complete-work (a link, where no script can
// be) the program completes.
func CommandLine(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	name := strings.TrimSuffix(filepath.Base(argv[0]), ".exe")
	if name == shimName {
		return append([]string{cobra.ShellCompRequestCmd}, argv[1:]...)
	}
	return argv[1:]
}
