package commands

import (
	"fmt"
	"os"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// reportGitLab is the kind of --report that GitLab shows in a merge request.
const reportGitLab = "gitlab"

// checkReports makes the files of --report, so that one that cannot be written is told before anything is waited for.
func checkReports(reports []string) error {
	for _, report := range reports {
		_, path, _ := strings.Cut(report, "=")
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // a report is for the CI system to read
		if err != nil {
			return refuse("--report %s: %s", report, fileProblem(err))
		}
		if err := file.Close(); err != nil {
			return refuse("--report %s: %w", report, err)
		}
	}
	return nil
}

// writeReports writes the files of --report: what failed or is stuck, at its line where the run came from a file. One that
// cannot be written is told, and does not touch the result.
func (r *waitReport) writeReports(runs []*watch.Waited) {
	for _, report := range r.reports {
		_, path, _ := strings.Cut(report, "=")
		issues := []render.Issue{}
		for _, w := range runs {
			if w.Decision.Result != watch.ResultFailed && w.Decision.Result != watch.ResultStuck {
				continue
			}
			issue := render.Issue{Job: w.Name, Reason: or(w.Decision.Reason, w.Verdict.Reason), Message: resultLine(w), File: r.firstFile(), Line: 1}
			if p, ok := r.place(w); ok {
				issue.File, issue.Line = p.File, p.Line
			}
			issue.File = inside(r.app.Getenv("CI_PROJECT_DIR"), issue.File)
			issues = append(issues, issue)
		}
		data, err := render.GitLab(issues)
		if err == nil {
			err = os.WriteFile(path, data, 0o644) //nolint:gosec // as above
		}
		if err != nil {
			fmt.Fprintf(r.app.Err, "error: --report %s: %v\n", report, err)
		}
	}
}

// firstFile stands for the place of what has none: GitLab drops issues without a path.
func (r *waitReport) firstFile() string {
	for _, d := range r.documents {
		return d.File
	}
	return "kubectl-work"
}
