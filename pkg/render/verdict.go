package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Verdict is the first line about a run: job/NAME PHASE: REASON - MESSAGE. A message that begins with the phase stands for
// all of it.
func Verdict(name string, v status.Verdict) string {
	head := "job/" + name + " "
	phase := string(v.Phase)
	if v.Phase == status.PhaseTerminating && v.Outcome != status.OutcomeNone {
		phase = fmt.Sprintf("%s (%s)", v.Phase, v.Outcome)
	}
	return Line(head + sentence(phase, v.Reason, v.Message, v.Phase == status.PhaseSucceeded))
}

// Outcome is Verdict for a waiter, whose word is the outcome: a failure that is decided is a failure.
func Outcome(name string, v status.Verdict) string {
	word := string(v.Outcome)
	return Line("job/" + name + " " + sentence(word, v.Reason, v.Message, v.Outcome == status.OutcomeSucceeded))
}

// Result is the line about a run whose waiting ended without an outcome: job/NAME Stuck: REASON - MESSAGE.
func Result(name, word, reason, message string) string {
	return Line("job/" + name + " " + sentence(word, reason, message, false))
}

func sentence(word, reason, message string, good bool) string {
	switch {
	case strings.HasPrefix(message, word) && word != "":
		return message
	case good && message == "":
		return word
	case message == "" && reason == "":
		return word
	case message == "":
		return word + ": " + reason
	}
	return fmt.Sprintf("%s: %s - %s", word, reason, message)
}

// Progress counts in words: 1 active, 0 failed, 2 of 5 succeeded.
func Progress(p status.Progress) string {
	succeeded := fmt.Sprintf("%d succeeded", p.Succeeded)
	if p.Wanted != nil {
		succeeded = fmt.Sprintf("%d of %d succeeded", p.Succeeded, *p.Wanted)
	}
	return fmt.Sprintf("%d active, %d failed, %s", p.Active, p.Failed, succeeded)
}

// State is the heartbeat about a run that goes on: where it stands, and the first finding if there is one.
func State(name string, v status.Verdict) string {
	text := fmt.Sprintf("job/%s %s: %s", name, v.Phase, Progress(v.Progress))
	if v.Message != "" {
		text += fmt.Sprintf("; %s - %s", v.Reason, v.Message)
	}
	return Line(text)
}

// ShortState is State for one who was told: the reason without its sentence.
func ShortState(name string, v status.Verdict) string {
	text := fmt.Sprintf("job/%s %s: %s", name, v.Phase, Progress(v.Progress))
	if v.Reason != "" {
		text += "; " + v.Reason
	}
	return Line(text)
}

// maxOutput is how many lines of a failed container's output a failure block shows.
const maxOutput = 20

// FailureBlock is what is known about a failure, below its first line: tries, the container, its output. Empty when
// nothing more is known.
func FailureBlock(f *status.Failure) []string {
	if f == nil || f.Pod == "" {
		return nil
	}
	var lines []string
	add := func(label, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("  %-11s %s", label, Line(fmt.Sprintf(format, args...))))
	}
	if f.Limit != nil {
		add("tries", "%d of %d%s", min(f.Tries, *f.Limit), *f.Limit, codeCounts(f))
	} else {
		add("tries", "%d failed%s", f.Tries, codeCounts(f))
	}
	if f.Container != "" {
		add("last", "pod %s, container %s", f.Pod, f.Container)
	} else {
		add("last", "pod %s", f.Pod)
	}
	if f.ExitCode != nil {
		add("exit code", "%d (%s)", *f.ExitCode, f.Reason)
	}
	if f.Message != "" {
		add("message", "%s", Short(f.Message))
	}
	if len(f.Output) > 0 {
		lines = append(lines, "  output      (last lines, stdout and stderr mixed)")
		for _, line := range f.Output[max(0, len(f.Output)-maxOutput):] {
			lines = append(lines, "    | "+Short(line)) // never at the start of a line: CI systems read commands there
		}
	}
	return lines
}

// StuckBlock is what else is known about a run that is stuck, and what to do: of the finding with that reason.
func StuckBlock(v status.Verdict, reason string) []string {
	for _, f := range v.Findings {
		if f.Reason != reason {
			continue
		}
		var lines []string
		for _, detail := range f.Details {
			lines = append(lines, "  - "+Line(detail))
		}
		if f.Next != "" {
			lines = append(lines, "  next  "+Line(f.Next))
		}
		for _, a := range f.Advice {
			lines = append(lines, "  do    "+Line(fmt.Sprintf("%s   (%s: %s)", a.Command, a.Risk, a.Why)))
		}
		return lines
	}
	return nil
}

// codeCounts lists exit codes with how often they came, when they tell more than one number does.
func codeCounts(f *status.Failure) string {
	if len(f.Codes) < 2 {
		return ""
	}
	var parts []string
	for _, c := range f.Codes {
		parts = append(parts, fmt.Sprintf("code %d × %d", c.Code, c.Count))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
