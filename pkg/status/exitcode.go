package status

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ExitCodeOf is the exit code that one container gave a failed run: that of the Pod that finished last. The code is 0
// when there is none to pass on, and note says why: no failed Pod has that container, it ended well, or several indexes
// failed with different codes (kubernetes/enhancements#3329: a Job has no exit code of its own).
func ExitCodeOf(s Snapshot, name string) (code int32, note string) {
	newest := map[string]container{} // by completion index; one entry for a Job without indexes
	for _, pod := range newView(s).pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		i := slices.IndexFunc(containersOf(pod), func(c container) bool { return c.spec.Name == name && c.ended() != nil })
		if i < 0 {
			continue
		}
		c, index := containersOf(pod)[i], pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		before, seen := newest[index]
		if !seen || !c.ended().FinishedAt.Before(&before.ended().FinishedAt) {
			newest[index] = c
		}
	}
	for _, c := range newest {
		this := c.ended().ExitCode
		switch {
		case this == 0:
		case code != 0 && code != this:
			return 0, fmt.Sprintf("container %s ended with different codes on several indexes", name)
		default:
			code = this
		}
	}
	switch {
	case len(newest) == 0:
		return 0, fmt.Sprintf("no failed Pod has a container %s that ended", name)
	case code == 0:
		return 0, fmt.Sprintf("container %s did not fail", name)
	}
	return code, ""
}
