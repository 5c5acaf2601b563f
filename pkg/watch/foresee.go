package watch

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Foreseen is whether a Job would run, as far as could be looked.
type Foreseen struct {
	Findings []status.Finding
	Unread   []string // what could not be looked at, with why
}

// Foresee asks whether a Job would run if it were created now: dry runs of it and of its Pod, the objects that it names,
// the nodes. An error is the server's refusal of the Job itself, or that it cannot be asked.
func Foresee(ctx context.Context, c *cluster.Client, job *batchv1.Job, id string) (Foreseen, error) {
	made, err := c.TryJob(ctx, job, mapping.Shorten(job.Name+"-check-"+id, maxName))
	if err != nil {
		return Foreseen{}, err
	}
	made.Name = job.Name
	f := status.Foresight{Job: made, At: c.Now()}
	var out Foreseen
	read := func(what string, err error) bool {
		if err != nil {
			if text := fmt.Sprintf("%s (%v)", what, cluster.Plain(err)); !slices.Contains(out.Unread, text) {
				out.Unread = append(out.Unread, text)
			}
			return false
		}
		return true
	}
	probe := made.DeepCopy()
	refusal, err := c.ProbePod(ctx, probe)
	if read("a dry run of its Pod", err) {
		f.Probe = &status.Probe{Refusal: refusal}
	}
	for _, r := range status.References(made) {
		has, err := exists(ctx, c, made.Namespace, r)
		if read(r.Kind+"s", err) && !has {
			f.Missing = append(f.Missing, r)
		}
	}
	nodes, err := c.Nodes(ctx)
	if read("nodes", err) {
		f.Nodes = nodes
		pods, err := c.PlacedPods(ctx)
		if read("the Pods of other namespaces, for the nodes' free room", err) {
			f.NodePods = pods
		}
	}
	out.Findings = status.Foresee(f)
	return out, nil
}

// maxName is how long the name of a Job may be: it becomes a label of its Pods.
const maxName = 63

func exists(ctx context.Context, c *cluster.Client, namespace string, r status.Reference) (bool, error) {
	switch r.Kind {
	case status.KindSecret:
		return c.HasSecret(ctx, namespace, r.Name, r.Key)
	case status.KindConfigMap:
		return c.HasConfigMap(ctx, namespace, r.Name, r.Key)
	case status.KindClaim:
		return c.HasClaim(ctx, namespace, r.Name)
	}
	return true, nil
}
