package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
)

// saveLogs writes the output of a Job's Pods to a folder, a file for each container: DIR/POD.CONTAINER.log. It comes before
// a write that stops the Pods: when it fails, nothing is changed.
func (a *app) saveLogs(ctx context.Context, c *cluster.Client, job *batchv1.Job, folder string) error {
	pods, err := c.PodsOf(ctx, job)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return refuse("--save-logs %s: %s; nothing was changed", folder, fileProblem(err))
	}
	saved := 0
	for _, pod := range pods {
		for _, st := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
			if st.State.Running == nil && st.State.Terminated == nil {
				continue
			}
			if err := saveLog(ctx, c, pod, st.Name, filepath.Join(folder, pod.Name+"."+st.Name+".log")); err != nil {
				return err
			}
			saved++
		}
	}
	a.note("job/%s: the output of %s is in %s", job.Name, count(saved, "container"), folder)
	return nil
}

func saveLog(ctx context.Context, c *cluster.Client, pod *corev1.Pod, container, path string) (err error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return refuse("--save-logs: %s; nothing was changed", fileProblem(err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	err = c.ReadLog(ctx, pod.Namespace, pod.Name, container, cluster.LogOptions{}, func(l cluster.LogLine) { fmt.Fprintln(out, l.Text) })
	if _, ok := errors.AsType[*cluster.LogsGoneError](err); ok {
		err = nil // there is nothing to save
	}
	return errors.Join(err, out.Flush())
}
