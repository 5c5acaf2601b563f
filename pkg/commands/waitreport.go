package commands

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// waitReport prints how waiting ended: the result on stdout, errors on stderr, and the summary as the last line there,
// whatever happened.
type waitReport struct {
	app       *app
	kind      string
	output    format
	namespace string
	documents []*mapping.Document  // where the runs came from, if from files
	codeFrom  string               // container whose exit code replaces that of a failed run, "" for none
	min       int                  // Jobs that were waited for to appear
	reports   []string             // KIND=FILE
	ended     map[types.UID]string // what was done to runs that were given up
}

func newWaitReport(a *app, kind string, output format) *waitReport {
	return &waitReport{app: a, kind: kind, output: output}
}

// refused reports an error from before the first look.
func (r *waitReport) refused(err error) error { return r.done(nil, err, false) }

// done reports runs and what ended the wait; err nil means that every run has its result.
func (r *waitReport) done(runs []*watch.Waited, err error, anyOne bool) error {
	var codes []Code
	for _, w := range runs {
		if w.Open() {
			w.Decision.Result = watch.ResultTimeout
			if err != nil && !errors.Is(err, errTimeout) || err == nil && anyOne {
				w.Decision.Result = watch.ResultCut
			}
		}
		codes = append(codes, codeOf(w.Decision.Result))
	}
	code := worst(codes)
	if anyOne && len(codes) > 0 && contains(codes, CodeOK) {
		code = CodeOK
	}
	switch {
	case errors.Is(err, errTimeout) && len(runs) < r.min:
		code = worst(append(codes, CodeTimeout))
		err = &codeError{Code: CodeTimeout, Err: fmt.Errorf("%d of the %d Jobs that --min wants were there in time", len(runs), r.min)}
	case errors.Is(err, errTimeout):
		code = worst(append(codes, CodeTimeout))
		if len(runs) > 0 { // their lines say it
			err = nil
		}
	case err != nil:
		code = worst(append(settled(runs), exitCode(err)))
	}
	exit := r.exit(runs, code)
	if printErr := r.print(runs, code, exit, err); printErr != nil && err == nil {
		err = printErr
	}
	r.annotate(runs)
	r.annotateProblems(err)
	r.writeReports(runs)
	if err != nil {
		if text := message(err); text != "" {
			fmt.Fprintln(r.app.Err, "error:", text)
		}
		r.goOn(runs)
	}
	summary := r.summary(runs, code, err)
	if exit != code {
		summary += fmt.Sprintf(" exit=%d", exit)
	}
	fmt.Fprintln(r.app.Err, summary)
	r.app.summed = true
	if exit == CodeOK {
		return nil
	}
	return &codeError{Code: exit}
}

// exit is the code that the program ends with: that of the container of --exit-code-from in place of a 2. Nothing else
// is replaced, and never by 0.
func (r *waitReport) exit(runs []*watch.Waited, code Code) Code {
	if r.codeFrom == "" || code != CodeFailed {
		return code
	}
	if len(runs) != 1 {
		r.app.note("--exit-code-from: %d runs have no exit code in common, so it stays 2", len(runs))
		return code
	}
	own, why := status.ExitCodeOf(runs[0].Snapshot, r.codeFrom)
	if own == 0 {
		r.app.note("--exit-code-from: %s, so the code stays 2", why)
		return code
	}
	return Code(own)
}

// goOn says how to go on with runs that were left alone when waiting was cut off.
func (r *waitReport) goOn(runs []*watch.Waited) {
	for _, w := range runs {
		if w.Decision.Result == watch.ResultCut && w.Job != nil && r.ended[w.Job.UID] == "" {
			r.app.note("job/%s is left as it is. Go on: kubectl work wait %s -n %s; end it: kubectl work stop %s -n %s",
				w.Name, w.Name, r.namespace, w.Name, r.namespace)
		}
	}
}

// settled are the codes of the runs that had a result before an error ended the wait.
func settled(runs []*watch.Waited) []Code {
	var codes []Code
	for _, w := range runs {
		if w.Decision.Result != watch.ResultCut {
			codes = append(codes, codeOf(w.Decision.Result))
		}
	}
	return codes
}

func contains(codes []Code, code Code) bool {
	return slices.Contains(codes, code)
}

func (r *waitReport) print(runs []*watch.Waited, code, exit Code, err error) error {
	switch r.output {
	case formatText, formatWide:
		r.text(runs)
		return nil
	case formatName:
		for _, w := range runs {
			if w.Job != nil {
				fmt.Fprintln(r.app.Out, render.NameLine(w.Name))
			}
		}
		return nil
	case formatJSON, formatYAML:
	}
	return printObject(r.app.Out, r.output, r.object(runs, code, exit, err))
}

// text prints a line a run; what is known about failures comes last, where the end of a CI log shows it.
func (r *waitReport) text(runs []*watch.Waited) {
	for _, w := range runs {
		if w.Decision.Result == watch.ResultFailed {
			continue
		}
		fmt.Fprintln(r.app.Out, resultLine(w))
		if w.Decision.Result == watch.ResultStuck {
			for _, line := range render.StuckBlock(w.Verdict, w.Decision.Reason) {
				fmt.Fprintln(r.app.Out, line)
			}
		}
		r.pin(w)
	}
	for _, w := range runs {
		if w.Decision.Result == watch.ResultFailed {
			fmt.Fprintln(r.app.Out, resultLine(w))
			for _, line := range render.FailureBlock(w.Verdict.Failure) {
				fmt.Fprintln(r.app.Out, line)
			}
			r.pin(w)
		}
	}
}

func (r *waitReport) object(runs []*watch.Waited, code, exit Code, err error) render.Output {
	out := render.Output{APIVersion: render.OutputVersion, Kind: r.kind, Code: int(code), Items: []render.Item{}}
	if exit != code {
		out.Exit = new(int(exit))
	}
	if err != nil {
		out.Error = message(err)
	}
	outcome, _, _ := conclusion(runs, code, err)
	out.Outcome = status.Outcome(outcome)
	for _, w := range runs {
		item := render.Item{Name: w.Name, Namespace: r.namespace}
		if w.Job != nil {
			item = render.ItemOf(w.Job)
			item.Verdict = &w.Verdict
		}
		own := int(codeOf(w.Decision.Result))
		if p, ok := r.place(w); ok {
			item.File, item.Line = p.File, p.Line
		}
		item.Code, item.Result, item.Remark = &own, string(w.Decision.Result), w.Decision.Remark
		out.Items = append(out.Items, item)
	}
	return out
}

// summary is the last line on stderr: code, outcome, reason, and which run gave the code.
func (r *waitReport) summary(runs []*watch.Waited, code Code, err error) string {
	outcome, reason, w := conclusion(runs, code, err)
	text := fmt.Sprintf("kubectl-work: code=%d outcome=%s reason=%s", code, outcome, reason)
	if w == nil {
		return text
	}
	text += fmt.Sprintf(" job=%s/%s", r.namespace, w.Name)
	if len(runs) > 1 {
		text += fmt.Sprintf(" jobs=%d", len(runs))
	}
	return text
}

// conclusion is how a wait ended, in two words, and the run that gave the code; nil when no run did.
func conclusion(runs []*watch.Waited, code Code, err error) (outcome, reason string, w *watch.Waited) {
	for _, w := range runs {
		if codeOf(w.Decision.Result) != code && err == nil {
			continue
		}
		if err != nil && w.Decision.Result != watch.ResultCut {
			continue
		}
		outcome = or(string(w.Verdict.Outcome), string(w.Decision.Result))
		if w.Decision.Result == watch.ResultMissed {
			outcome = string(watch.ResultMissed)
		}
		if err != nil {
			outcome = or(string(w.Verdict.Outcome), reasonOf(err, ""))
		}
		reason = or(w.Decision.Reason, w.Verdict.Reason)
		return or(outcome, "Unknown"), or(reasonOf(err, reason), "None"), w
	}
	words := map[Code]string{
		CodeOK: string(watch.ResultReached), CodeTimeout: string(watch.ResultTimeout), CodeGone: string(watch.ResultGone),
	}
	return or(words[code], "Unknown"), or(reasonOf(err, ""), "None"), nil
}

// reasonOf names an error in a word; without one it is the run's own reason.
func reasonOf(err error, own string) string {
	var interrupt *InterruptError
	switch {
	case err == nil:
		return own
	case errors.As(err, &interrupt):
		return "Interrupted"
	}
	words := map[Code]string{
		CodeAccess: "AccessDenied", CodeUnreachable: "Unreachable", CodeGone: "NotFound", CodeTimeout: "Timeout", CodeInternal: "Internal",
		CodePartial: "PartlyApplied",
	}
	return or(words[exitCode(err)], "Refused")
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// logs is where the output of Pods goes: to stdout beside a result in text, to stderr beside one for machines.
func (r *waitReport) logs() io.Writer {
	if r.output == formatText {
		return r.app.Out
	}
	return r.app.Err
}
