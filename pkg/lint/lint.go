// Package lint holds a Work against what makes a good one-shot task: one that ends, can be tried again, fits on a node and
// leaves nothing behind.
//
// It owns the rules and their words. A rule never refuses what the API would take: that is validation (package mapping).
// It is pure, and knows neither files nor clusters; paths are those of the document.
package lint

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// Remark is one thing that may go wrong with a Work.
type Remark struct {
	Rule    string // id of the rule
	Path    string // in the document: spec.template.spec.containers[0].image
	Message string
	Fix     string
}

// Rule is one rule, for people.
type Rule struct {
	ID    string // stable, kebab-case
	About string // what may go wrong, and why
}

type rule struct {
	Rule
	find func(w *v1beta2.Work) []Remark
}

// Rules lists all rules in their order.
func Rules() []Rule {
	var all []Rule
	for _, r := range rules() {
		all = append(all, r.Rule)
	}
	return append(all, podSecurityRule())
}

// Check returns everything that the rules have to say about a Work, in the order of the rules.
func Check(w *v1beta2.Work) []Remark {
	var all []Remark
	for _, r := range rules() {
		for _, remark := range r.find(w) {
			remark.Rule = r.ID
			all = append(all, remark)
		}
	}
	return all
}

const template = "spec.template.spec"

func rules() []rule {
	return []rule{
		{Rule{"no-deadline", "Without activeDeadlineSeconds a task that hangs, or whose image never comes, stays active for ever."}, noDeadline},
		{Rule{"endless-loop", "A command that never ends can never succeed: a task is over when its program is."}, endlessLoop},
		{Rule{"retries-unset", "Without maxRetries or backoffLimit a task that fails is tried 7 times, with pauses that grow to minutes."}, retriesUnset},
		{Rule{"two-pods", "While a Pod is being deleted its replacement starts already, so two may run at once; podReplacementPolicy: Failed waits for the end."}, twoPods},
		{Rule{"helper-container", "A Pod ends when all its containers have: a helper that goes on keeps the Job from completing. " +
			"As an init container with restartPolicy: Always it ends with the others."}, helperContainer},
		{Rule{"output-lost", "restartPolicy: OnFailure starts containers again in the same Pod: the output of earlier tries is lost, and the Pod goes with the last one."}, outputLost},
		{Rule{"no-requests", "Without requests the scheduler takes a Pod for weightless, and it is the first to go when its node runs short."}, noRequests},
		{Rule{"no-memory-limit", "Without a memory limit a task that leaks takes its neighbours along."}, noMemoryLimit},
		{Rule{"latest-tag", "An image without a tag, or with latest, may be another one at the next try."}, latestTag},
		{Rule{"secret-in-env", "A credential in the file is in every copy of it, in the Job and in its events; a Secret keeps it in one place."}, secretInEnv},
		{Rule{"kept-for-ever", "Without a time to live finished Jobs and their Pods stay until somebody deletes them."}, keptForEver},
		{Rule{"run-suffix", "A name that ends like etl-r2 looks like a run of another Work, and is refused when that one has runs."}, runSuffix},
	}
}

func noDeadline(w *v1beta2.Work) []Remark {
	if w.Spec.ActiveDeadlineSeconds != nil || w.Spec.Template.Spec.ActiveDeadlineSeconds != nil {
		return nil
	}
	return []Remark{{Path: "spec", Message: "no activeDeadlineSeconds: nothing ends it when it hangs", Fix: "set spec.activeDeadlineSeconds to more than it ever needs"}}
}

// endless are commands that never end by themselves.
const endless = `while\s+(?:true|:|1)\b|while\s+:|for\s*\(\(\s*;\s*;\s*\)\)|sleep\s+(?:infinity|inf\b|infinite)|tail\s+-[fF]\b|until\s+false`

func endlessLoop(w *v1beta2.Work) []Remark {
	pattern := regexp.MustCompile(endless)
	return containers(w, func(c corev1.Container, path string) []Remark {
		for _, list := range []struct {
			name  string
			words []string
		}{{"command", c.Command}, {"args", c.Args}} {
			if found := pattern.FindString(strings.Join(list.words, " ")); found != "" {
				return []Remark{{Path: path + "." + list.name, Message: fmt.Sprintf("%q never ends, so container %s never does", found, c.Name), Fix: "let the program end when its work is done"}}
			}
		}
		return nil
	})
}

func retriesUnset(w *v1beta2.Work) []Remark {
	if w.Spec.MaxRetries != nil || w.Spec.BackoffLimit != nil || w.Spec.BackoffLimitPerIndex != nil {
		return nil
	}
	return []Remark{{Path: "spec", Message: "maxRetries is not set: a failing task is tried 7 times", Fix: "set spec.maxRetries; 0 for a task that must not be tried again"}}
}

func twoPods(w *v1beta2.Work) []Remark {
	single := w.Spec.Parallelism == nil || *w.Spec.Parallelism == 1
	if !single || w.Spec.PodReplacementPolicy != nil || w.Spec.PodFailurePolicy != nil { // a failure policy implies Failed
		return nil
	}
	return []Remark{{Path: "spec", Message: "two Pods may run at once while one is being deleted", Fix: "set spec.podReplacementPolicy: Failed, unless two at once do no harm"}}
}

func helperContainer(w *v1beta2.Work) []Remark {
	list := w.Spec.Template.Spec.Containers
	if len(list) < 2 {
		return nil
	}
	return []Remark{{
		Path:    template + ".containers[1]",
		Message: fmt.Sprintf("%d containers: the Job completes only when all of them end", len(list)),
		Fix:     "a helper belongs under initContainers, with restartPolicy: Always",
	}}
}

func outputLost(w *v1beta2.Work) []Remark {
	if w.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return nil
	}
	return []Remark{{Path: template + ".restartPolicy", Message: "OnFailure: the output of tries that failed is lost", Fix: "use Never, which keeps the Pod of each try"}}
}

func noRequests(w *v1beta2.Work) []Remark {
	if w.Spec.Template.Spec.Resources != nil { // of the Pod as a whole
		return nil
	}
	return containers(w, func(c corev1.Container, path string) []Remark {
		var missing []string
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			_, requested := c.Resources.Requests[name]
			_, limited := c.Resources.Limits[name] // a limit is the request where none is given
			if !requested && !limited {
				missing = append(missing, string(name))
			}
		}
		if len(missing) == 0 {
			return nil
		}
		return []Remark{{Path: path, Message: fmt.Sprintf("container %s requests no %s", c.Name, strings.Join(missing, " and no ")), Fix: "set resources.requests"}}
	})
}

func noMemoryLimit(w *v1beta2.Work) []Remark {
	return containers(w, func(c corev1.Container, path string) []Remark {
		if _, limited := c.Resources.Limits[corev1.ResourceMemory]; limited || w.Spec.Template.Spec.Resources != nil {
			return nil
		}
		return []Remark{{Path: path, Message: fmt.Sprintf("container %s has no memory limit", c.Name), Fix: "set resources.limits.memory"}}
	})
}

func latestTag(w *v1beta2.Work) []Remark {
	return containers(w, func(c corev1.Container, path string) []Remark {
		last := c.Image[strings.LastIndex(c.Image, "/")+1:]
		_, tag, tagged := strings.Cut(last, ":")
		if c.Image == "" || strings.Contains(c.Image, "@") || tagged && tag != "latest" {
			return nil
		}
		return []Remark{{Path: path + ".image", Message: fmt.Sprintf("image %s may be another one at the next try", c.Image), Fix: "name a version, or a digest"}}
	})
}

// secretName is what variables with credentials are called.
const secretName = `(?i)(?:^|_)(?:PASSWORD|PASSWD|PWD|TOKEN|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$`

func secretInEnv(w *v1beta2.Work) []Remark {
	pattern := regexp.MustCompile(secretName)
	return containers(w, func(c corev1.Container, path string) []Remark {
		var found []Remark
		for i, env := range c.Env {
			if env.Value != "" && pattern.MatchString(env.Name) && !strings.HasPrefix(env.Value, "$(") {
				found = append(found, Remark{Path: fmt.Sprintf("%s.env[%d].value", path, i), Message: fmt.Sprintf("variable %s seems to hold a credential", env.Name), Fix: "take it from a Secret: valueFrom.secretKeyRef"})
			}
		}
		return found
	})
}

func keptForEver(w *v1beta2.Work) []Remark {
	if w.Spec.TTLSecondsAfterFinished != nil || w.Spec.CleanupPolicy != nil && w.Spec.CleanupPolicy.TTLSecondsAfterFinished != nil {
		return nil
	}
	return []Remark{{Path: "spec", Message: "it stays until somebody deletes it", Fix: "set spec.cleanupPolicy.ttlSecondsAfterFinished, long enough to read its output"}}
}

func runSuffix(w *v1beta2.Work) []Remark {
	if !regexp.MustCompile(`-r[0-9]+$`).MatchString(w.Name) {
		return nil
	}
	return []Remark{{Path: "metadata.name", Message: fmt.Sprintf("%s looks like a run of another Work", w.Name), Fix: "take a name that does not end in -r and a number"}}
}

// containers asks about every container, init containers first.
func containers(w *v1beta2.Work, find func(c corev1.Container, path string) []Remark) []Remark {
	var all []Remark
	for i, c := range w.Spec.Template.Spec.InitContainers {
		all = append(all, find(c, fmt.Sprintf("%s.initContainers[%d]", template, i))...)
	}
	for i, c := range w.Spec.Template.Spec.Containers {
		all = append(all, find(c, fmt.Sprintf("%s.containers[%d]", template, i))...)
	}
	return all
}
