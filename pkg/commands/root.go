package commands

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"
	"k8s.io/kubectl/pkg/util/templates"
)

// newRootCommand builds the whole tree for one call.
func newRootCommand(a *app) *cobra.Command {
	a.config = genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:   "kubectl-work",
		Short: "Run one-shot work as plain Jobs: submit, wait, and know why",
		Long: templates.LongDesc(`
			Run one-shot, terminable work on a cluster as plain batch/v1 Jobs, from the client alone.

			Every command works on any Job, whoever made it. Exit codes are stable: 0 succeeded, 2 failed, 3 timeout, 4 gone,
			5 stuck, 6 held, 7 no right, 8 out of reach, 1 refused.`),
		Example: templates.Examples(`
			# Run a Work and end with its result
			kubectl work submit -f work.yaml --wait

			# Wait for a Job that somebody else made
			kubectl work wait etl --timeout 1h

			# Why does it not start, why did it fail?
			kubectl work describe etl`),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl work"},
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return refuse("unknown command %q%s", args[0], didYouMean(cmd.SuggestionsFor(args[0])))
			}
			return cmd.Help()
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	addGlobalFlags(root.PersistentFlags(), a)
	root.AddGroup(&cobra.Group{ID: groupRun, Title: "Run:"}, &cobra.Group{ID: groupSee, Title: "See:"}, &cobra.Group{ID: groupOther, Title: "Other:"})
	for _, cmd := range []*cobra.Command{
		newSubmitCommand(a, nil), newRetryCommand(a, nil), newWaitCommand(a, nil), newWatchCommand(a, nil), newPauseCommand(a, nil), newResumeCommand(a, nil), newStopCommand(a, nil), newDeleteCommand(a, nil),
		newListCommand(a, nil), newHistoryCommand(a, nil), newDescribeCommand(a, nil), newLogsCommand(a, nil), newExportCommand(a, nil), newDiffCommand(a, nil), newLintCommand(a, nil), newCheckCommand(a, nil), newDoctorCommand(a, nil),
		newVersionCommand(a, nil), newCompletionCommand(a, nil), newOptionsCommand(a),
	} {
		root.AddCommand(cmd)
	}
	root.SetHelpCommandGroupID(groupOther)
	a.completeFlags(root)
	return root
}

// The groups of the help screen.
const (
	groupRun   = "run"
	groupSee   = "see"
	groupOther = "other"
)

// shownGlobals are the connection flags that every help screen shows; the others are under `options`.
var shownGlobals = []string{"namespace", "context", "kubeconfig"}

func addGlobalFlags(flags *pflag.FlagSet, a *app) {
	a.config.AddFlags(flags)
	flags.DurationVar(&a.retryFor, "retry-for", 30*time.Second, "How long an API server that is out of reach is tried again; 5m when waiting")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "Print results and errors only: no progress, no hints")
	flags.VarP(&verbosity{}, "v", "v", "Log the client library's own messages to stderr at this level (0 to 10)")
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	for _, name := range append(shownGlobals, "quiet") {
		flags.Lookup(name).Hidden = false
	}
}

// verbosity sets the level of the client library's log, which is silent without it.
type verbosity struct{ level int }

// Set implements pflag.Value.
func (v *verbosity) Set(text string) error {
	level, err := strconv.Atoi(text)
	if err != nil || level < 0 {
		return fmt.Errorf("%q is not a level: give a number from 0 to 10", text)
	}
	v.level = level
	if level > 0 {
		klog.ClearLogger()
		var l klog.Level
		return l.Set(text)
	}
	return nil
}

func (v *verbosity) String() string { return strconv.Itoa(v.level) }

// Type implements pflag.Value.
func (v *verbosity) Type() string { return "level" }

// flagError says what a flag takes, in place of what the parser tripped over.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return &codeError{Code: CodeRefused, Err: err}
	}
	wanted := map[string]string{
		"int": "a whole number", "int32": "a whole number", "int64": "a whole number", "bool": "true or false",
		"duration": "a duration like 90s, 5m or 1h30m", "stringToString": "KEY=VALUE",
		"days": "a duration like 90m, 36h or 7d",
	}[invalid.GetFlag().Value.Type()]
	if wanted == "" {
		return &codeError{Code: CodeRefused, Err: err}
	}
	return refuse("--%s=%s: give %s", invalid.GetFlag().Name, invalid.GetValue(), wanted)
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return "; `kubectl work --help` lists the commands"
	}
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	return fmt.Sprintf("; did you mean %s?", strings.Join(names, " or "))
}

// newOptionsCommand lists the flags that every command takes, as kubectl does.
func newOptionsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "List the flags that every command takes", GroupID: groupOther, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := cmd.Root().PersistentFlags()
			flags.VisitAll(func(f *pflag.Flag) { f.Hidden = false })
			_, err := fmt.Fprintf(a.Out, "The following flags can be given to any command:\n\n%s", flags.FlagUsages())
			return err
		},
	}
}
