package mapping

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// class says what an apiVersion and kind mean to us.
type class int

const (
	isWrong class = iota
	isWork
	isAlpha // a Work of v1alpha1
	isJob
	isList
	isJobList
	isOther
)

// classify says what a document is and, when it is nothing we read, what to do.
func classify(apiVersion, kind string) (class, string) {
	hub, batch := v1beta2.GroupVersion.String(), batchv1.SchemeGroupVersion.String()
	const job, list, jobList = "Job", "List", "JobList"
	write := "write apiVersion: " + hub + " and kind: " + v1beta2.Kind + ", or apiVersion: " + batch + " and kind: " + job
	switch {
	case apiVersion == hub && kind == v1beta2.Kind:
		return isWork, ""
	case apiVersion == v1alpha1.GroupVersion.String() && kind == v1beta2.Kind:
		return isAlpha, ""
	case apiVersion == batch && kind == job:
		return isJob, ""
	case apiVersion == "v1" && kind == list:
		return isList, ""
	case apiVersion == batch && kind == jobList:
		return isJobList, ""
	case apiVersion == "" || kind == "":
		return isWrong, write
	}
	group, _, _ := strings.Cut(apiVersion, "/")
	sameKind := strings.EqualFold(kind, v1beta2.Kind) || strings.EqualFold(kind, job)
	switch {
	case strings.EqualFold(group, work.Group) && apiVersion != hub:
		return isWrong, "use " + hub
	case strings.EqualFold(group, work.Group):
		return isWrong, "the kind of " + hub + " is " + v1beta2.Kind
	case apiVersion == batch && strings.EqualFold(kind, job):
		return isWrong, "did you mean kind: " + job + "?"
	case strings.EqualFold(kind, v1beta2.Kind) && nearest(group, []string{work.Group}) != "":
		return isWrong, "did you mean " + hub + "?"
	case kind == v1beta2.Kind && apiVersion == batch:
		return isWrong, "a Work has apiVersion: " + hub
	case sameKind && (strings.EqualFold(group, batchv1.GroupName) || apiVersion == "v1"):
		return isWrong, "a Job has apiVersion: " + batch
	}
	return isOther, "take it out, or skip other kinds (--skip-other-kinds)"
}
