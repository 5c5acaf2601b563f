package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// maxLabel is how long a label value may be, and so a Job's name: it becomes a label of its Pods.
const maxLabel = 63

// LabelValue is the label form of a Work's name: itself up to 63 characters, else its start and a hash.
func LabelValue(name string) string { return Shorten(name, maxLabel) }

// Shorten cuts a name to at most limit characters and keeps it unique: its start, a dash, and 8 hex digits of its
// hash. The start never ends in '-' or '.'.
func Shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:])[:8]
	return strings.TrimRight(name[:limit-len(suffix)], "-.") + suffix
}

// GenerateName resolves a generateName in the client: the stem and a hash of the submit id, so that a resend makes the
// same name.
func GenerateName(stem, submitID string) string {
	sum := sha256.Sum256([]byte(submitID))
	const digits = 8
	if limit := maxLabel - digits; len(stem) > limit {
		stem = strings.TrimRight(stem[:limit-1], "-.") + "-"
	}
	return stem + hex.EncodeToString(sum[:])[:digits]
}

var runSuffix = regexp.MustCompile(`-r[0-9]+$`)

// Ours tells whether a Job is a run that we submitted: its labels name a Work and run that give its own name. A clone
// made with get | apply under another name is foreign.
func Ours(job *batchv1.Job) bool {
	label := job.Labels[work.LabelWork]
	if label == "" {
		return false
	}
	return WorkName(job) == job.Name || RunName(WorkName(job), RunNumber(job)) == job.Name
}

// WorkName is the name of the Work that a Job runs; of a foreign Job its own name.
func WorkName(job *batchv1.Job) string {
	if name := job.Annotations[work.AnnotationName]; name != "" {
		return name
	}
	if name := job.Labels[work.LabelWork]; name != "" {
		return name
	}
	return job.Name
}

// RunNumber is the number of the run that a Job is, at least 1.
func RunNumber(job *batchv1.Job) int {
	n, err := strconv.Atoi(job.Labels[work.LabelRun])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// RunSuffix is the "-r2" of a name, "" without one.
func RunSuffix(name string) string { return runSuffix.FindString(name) }
