package commands

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// place is where in the user's file the cause of a bad end is: of a run that came from a file, failed or is stuck, and
// whose first finding is about a field.
func (r *waitReport) place(w *watch.Waited) (mapping.Problem, bool) {
	bad := w.Decision.Result == watch.ResultFailed || w.Decision.Result == watch.ResultStuck
	if !bad || w.Job == nil || len(w.Verdict.Findings) == 0 || w.Verdict.Findings[0].Field == "" {
		return mapping.Problem{}, false
	}
	f := w.Verdict.Findings[0]
	for _, d := range r.documents {
		if d.Work.Name == mapping.WorkName(w.Job) || len(r.documents) == 1 {
			p := d.Problem(f.Field, f.Message, "")
			return p, p.Line > 0
		}
	}
	return mapping.Problem{}, false
}

// pin prints the cause as compilers do, so that editors and people find the line: work.yaml:14: image … not found.
func (r *waitReport) pin(w *watch.Waited) {
	if p, ok := r.place(w); ok {
		fmt.Fprintln(r.app.Out, render.Line(fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)))
	}
}

// annotate marks the lines in the pull request, under GitHub Actions. The runner reads its commands from stderr too, and
// stdout is for the result.
func (r *waitReport) annotate(runs []*watch.Waited) {
	if r.app.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	for _, w := range runs {
		if p, ok := r.place(w); ok {
			fmt.Fprintln(r.app.Err, render.GitHubError(inside(r.app.Getenv("GITHUB_WORKSPACE"), p.File), p.Line, p.Message))
		}
	}
}

// inside is the path of a file from the folder of the repository, as CI systems want it; the path as it was given where that
// is not known, or the file is not in it.
func inside(repository, file string) string {
	path, err := filepath.Abs(file)
	if repository == "" || err != nil {
		return file
	}
	rel, err := filepath.Rel(repository, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return file
	}
	return filepath.ToSlash(rel)
}

// annotateProblems marks the lines of a file that was refused.
func (r *waitReport) annotateProblems(err error) {
	problems, ok := errors.AsType[mapping.Problems](err)
	if !ok || r.app.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	for _, p := range problems {
		if p.Line > 0 {
			text := p.Message
			if p.Path != "" {
				text = p.Path + ": " + text
			}
			fmt.Fprintln(r.app.Err, render.GitHubError(inside(r.app.Getenv("GITHUB_WORKSPACE"), p.File), p.Line, text))
		}
	}
}
