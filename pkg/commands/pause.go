package commands

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

func newPauseCommand(a *app, run func(context.Context, *holdOptions) error) *cobra.Command {
	o := &holdOptions{app: a, decide: watch.DecidePause, event: "Paused", stops: "Pause"}
	cmd := &cobra.Command{
		Use:   "pause NAME... | -l SELECTOR",
		Short: "Stop the Pods of runs until they are resumed",
		Long: templates.LongDesc(`
			Suspend Jobs. Their Pods are stopped with their grace time and start anew at resume; what counts towards
			backoffLimit stays, and so does what is left of activeDeadlineSeconds. Who paused, when and why is recorded on the
			Job.

			A pause may end by itself: at a time, or when another object of the namespace is ready. Something has to look for
			that: kubectl work watch, or a kubectl work wait for the run.`),
		Example: templates.Examples(`
			# Pause a run and say why
			kubectl work pause etl --reason "upstream is late"

			# Until tomorrow morning, or for two hours
			kubectl work pause etl --until 2026-12-24T06:00:00Z
			kubectl work pause etl --until 2h

			# Until a Job of the upstream team is complete
			kubectl work pause etl --until-ready job/upstream --for condition=Complete

			# Pause everything of a team, and keep what was written so far
			kubectl work pause -l team=data --save-logs logs`),
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "Why, for those who look at it later")
	o.until.add(cmd.Flags())
	o.complete = func(r *watch.HoldRequest) (err error) {
		r.Until, err = o.until.parse(r.Now)
		return err
	}
	return o.finish(cmd, run)
}

// untilFlags say what ends a pause by itself.
type untilFlags struct {
	at     string
	ready  string
	what   string
	signal bool
}

func (f *untilFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.at, "until", "", "Resume after a duration (2h, 7d), or at a time (2026-12-24T06:00:00Z)")
	flags.StringVar(&f.ready, "until-ready", "", "Resume when this object is ready, as KIND/NAME; kinds outside of core, batch and apps as KIND.VERSION.GROUP/NAME")
	flags.StringVar(&f.what, "for", "", "With --until-ready: condition=TYPE[=STATUS] or jsonpath={PATH}[=VALUE] (default: that it exists)")
	flags.BoolVar(&f.signal, "until-signal", false, "Somebody else resumes it: said to those who look at it")
}

// parse reads the flags; nil when none is given.
func (f *untilFlags) parse(now time.Time) (*work.Until, error) {
	if f.at == "" && f.ready == "" && !f.signal {
		if f.what != "" {
			return nil, refuse("--for=%s goes with --until-ready", f.what)
		}
		return nil, nil
	}
	u := &work.Until{Signal: f.signal}
	var problems []error
	if f.at != "" {
		at, err := parseTime(f.at, now)
		if err != nil {
			problems = append(problems, refuse("--until=%s: %w", f.at, err))
		}
		u.After = &metav1.Time{Time: at}
	}
	if f.ready != "" {
		when, err := parseWhen(f.ready, f.what)
		if err != nil {
			problems = append(problems, err)
		}
		u.When = when
	}
	return u, errors.Join(problems...)
}

// parseTime reads a duration from now on, or a time that is to come.
func parseTime(text string, now time.Time) (time.Time, error) {
	if d, err := parseDuration(text); err == nil {
		if d <= 0 {
			return time.Time{}, errors.New("that is over already")
		}
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		at, err := time.Parse(layout, text)
		if err == nil && at.Before(now) {
			return at, errors.New("that is over already")
		}
		if err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, errors.New("write a duration like 2h or 7d, or a time like 2026-12-24T06:00:00Z")
}

// knownKinds are the kinds that need no group and version. No server is asked for those.
func knownKinds() map[string][2]string {
	core, batch, apps := "v1", "batch/v1", "apps/v1"
	return map[string][2]string{
		"job": {batch, "Job"}, "jobs": {batch, "Job"}, "cronjob": {batch, "CronJob"}, "cj": {batch, "CronJob"},
		"pod": {core, "Pod"}, "po": {core, "Pod"}, "configmap": {core, "ConfigMap"}, "cm": {core, "ConfigMap"},
		"secret": {core, "Secret"}, "service": {core, "Service"}, "svc": {core, "Service"},
		"persistentvolumeclaim": {core, "PersistentVolumeClaim"}, "pvc": {core, "PersistentVolumeClaim"},
		"deployment": {apps, "Deployment"}, "deploy": {apps, "Deployment"}, "statefulset": {apps, "StatefulSet"}, "sts": {apps, "StatefulSet"},
	}
}

// parseWhen reads KIND/NAME and what it is to be like.
func parseWhen(ready, what string) (*work.When, error) {
	kind, name, found := strings.Cut(ready, "/")
	if !found || kind == "" || name == "" {
		return nil, refuse("--until-ready=%s: write it like job/upstream, or like workflow.v1alpha1.argoproj.io/upstream", ready)
	}
	w := &work.When{Name: name}
	if known, is := knownKinds()[strings.ToLower(kind)]; is {
		w.APIVersion, w.Kind = known[0], known[1]
	} else if parts := strings.SplitN(kind, ".", 3); len(parts) == 3 {
		w.APIVersion, w.Kind = parts[2]+"/"+parts[1], parts[0]
	} else {
		return nil, refuse("--until-ready=%s: of which version and group is %s? Write it like %s.v1.example.com/%s", ready, kind, kind, name)
	}
	switch form, value, _ := strings.Cut(what, "="); {
	case what == "":
		w.JSONPath = "{.metadata.name}"
	case form == "condition" && value != "":
		w.Condition = value
	case form == "jsonpath" && strings.HasPrefix(value, "{") && strings.Contains(value, "}"):
		w.JSONPath = value
	default:
		return nil, refuse("--for=%s: write it like condition=Complete, or like jsonpath={.status.phase}=Ready", what)
	}
	if _, err := watch.Holds(*w, map[string]any{}); err != nil {
		return nil, refuse("--for=%s: %w", what, err)
	}
	return w, nil
}
