package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

func newResumeCommand(a *app, run func(context.Context, *holdOptions) error) *cobra.Command {
	o := &holdOptions{app: a, decide: watch.DecideResume, event: "Resumed"}
	cmd := &cobra.Command{
		Use:   "resume NAME... | -l SELECTOR",
		Short: "Let paused runs go on",
		Long: templates.LongDesc(`
			Release Jobs that are suspended, whoever suspended them. What was left of activeDeadlineSeconds at the pause is left
			now. Jobs that a queueing controller decides about are left to it, and those that wait for other runs or for their
			turn go on waiting, unless --force.

			On the way a paused run may get more memory or another place: with the same write, so that no Pod starts with the old
			ones.`),
		Example: templates.Examples(`
			# Let a paused run go on
			kubectl work resume etl

			# With more memory, on the big nodes
			kubectl work resume etl --memory 8Gi --node-selector size=large`),
	}
	beside := false
	o.changes.add(cmd.Flags())
	cmd.Flags().BoolVar(&beside, "now", false, "Of runs that exclude each other: do not wait for Pods that are still ending")
	o.complete = func(r *watch.HoldRequest) (err error) {
		r.Beside = beside
		r.Changes, err = o.changes.parse(cmd.Flags())
		return err
	}
	return o.finish(cmd, run)
}

// changeFlags say what a resume changes.
type changeFlags struct {
	cpu, memory  string
	parallelism  int32
	nodeSelector map[string]string
}

func (f *changeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.cpu, "cpu", "", "CPU that each container gets, like 500m: its request, and its limit where it has one")
	flags.StringVar(&f.memory, "memory", "", "Memory that each container gets, like 2Gi: its request, and its limit where it has one")
	flags.Int32Var(&f.parallelism, "parallelism", 0, "How many Pods may run at the same time")
	flags.StringToStringVar(&f.nodeSelector, "node-selector", nil, "Labels that a node must have, added to those of the template, as KEY=VALUE")
}

func (f *changeFlags) parse(flags *pflag.FlagSet) (watch.Changes, error) {
	c := watch.Changes{NodeSelector: f.nodeSelector}
	var problems []error
	quantity := func(flag, text string) *resource.Quantity {
		if text == "" {
			return nil
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() <= 0 {
			problems = append(problems, refuse("--%s=%s: write a quantity like 500m or 2Gi", flag, text))
		}
		return &q
	}
	c.CPU, c.Memory = quantity("cpu", f.cpu), quantity("memory", f.memory)
	if flags.Changed("parallelism") {
		if f.parallelism < 0 {
			problems = append(problems, refuse("--parallelism=%d: it cannot be negative", f.parallelism))
		}
		c.Parallelism = &f.parallelism
	}
	return c, errors.Join(problems...)
}
