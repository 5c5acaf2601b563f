package mapping

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// EnvIndexMap tells a task that runs some indexes of an earlier run which they are: the n-th of the list, counted from 0, is
// the index that the Pod with completion index n stands for. Kubernetes numbers Pods from 0 in every run.
const EnvIndexMap = "KUBECTL_WORK_INDEX_MAP"

// maxIndexMap bounds the list, in bytes: with all of an environment it has to fit into the start of a process.
const maxIndexMap = 64 << 10

// OnlyIndexes makes a Work run some indexes of what it was: as many completions, and the map in every container.
func OnlyIndexes(w *v1beta2.Work, indexes []int) error {
	var list []string
	for _, i := range indexes {
		list = append(list, strconv.Itoa(i))
	}
	text := strings.Join(list, ",")
	if len(text) > maxIndexMap {
		return fmt.Errorf("the list of %d indexes is too long to hand on (%d bytes, %d are the most)", len(indexes), len(text), maxIndexMap)
	}
	n := int32(len(indexes)) //nolint:gosec // bounded above
	w.Spec.Completions = &n
	if p := w.Spec.Parallelism; p != nil && *p > n {
		w.Spec.Parallelism = &n
	}
	if most := w.Spec.MaxFailedIndexes; most != nil && *most > n {
		w.Spec.MaxFailedIndexes = &n
	}
	w.Spec.SuccessPolicy = nil // its indexes are others now
	spec := &w.Spec.Template.Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			setEnv(&containers[i], EnvIndexMap, text)
		}
	}
	return nil
}
