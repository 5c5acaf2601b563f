package commands

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// addChoices adds the flags that decide what a submit does about runs that are there.
func addChoices(flags *pflag.FlagSet, c *watch.SubmitChoices) {
	flags.StringVar((*string)(&c.IfFinished), "if-finished", string(watch.IfFinishedFail),
		"What to do when the Work has a run that ended: fail, ok (of the same document: report its outcome), new-run or replace")
	flags.BoolVar(&c.NewRun, "new-run", false, "Start another run, whatever runs there are")
	flags.BoolVar(&c.Replace, "replace", false, "Delete the newest run, wait until its Pods are gone, and start in its place")
	flags.BoolVar(&c.Adopt, "adopt", false, "Make a Job of this name that somebody else made, or a restored copy, a run of the Work, if it is what the document says")
	flags.BoolVar(&c.Force, "force", false, "With --replace: also a run that goes on")
}

func checkChoices(c watch.SubmitChoices) error {
	var problems []error
	known := []watch.IfFinished{watch.IfFinishedFail, watch.IfFinishedOK, watch.IfFinishedNewRun, watch.IfFinishedReplace}
	if !slices.Contains(known, c.IfFinished) {
		problems = append(problems, refuse("--if-finished=%s: give fail, ok, new-run or replace", c.IfFinished))
	}
	if c.NewRun && c.Replace {
		problems = append(problems, refuse("--new-run and --replace exclude each other"))
	}
	if c.Force && !c.Replace {
		problems = append(problems, refuse("--force is about --replace: give that too"))
	}
	return errors.Join(problems...)
}
