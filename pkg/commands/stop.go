package commands

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

func newStopCommand(a *app, run func(context.Context, *holdOptions) error) *cobra.Command {
	o := &holdOptions{app: a, decide: watch.DecideStop, event: "Stopped", stops: "Stop"}
	cmd := &cobra.Command{
		Use:   "stop NAME... | -l SELECTOR",
		Short: "End runs, and keep their Jobs",
		Long: templates.LongDesc(`
			End Jobs for good. Their Pods get their grace time and go, and the Job controller records Failed; the Job stays, with
			who stopped it, when and why. A paused or queued run ends without ever starting. To remove Jobs too, use delete.`),
		Example: templates.Examples(`
			# End a run and say why
			kubectl work stop etl --reason "wrong input"

			# End everything of a team, and keep what was written so far
			kubectl work stop -l team=data --save-logs logs`),
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "Why, for those who look at it later")
	return o.finish(cmd, run)
}
