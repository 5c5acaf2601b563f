package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
)

// Look reads a namespace, "" for all: a handful of lists, never run by run. What the caller may not read is named in Unread;
// without the right to list Jobs there is an error, and the Survey still tells of rights.
func Look(ctx context.Context, c *cluster.Client, namespace string) (Survey, error) {
	s := Survey{Namespace: namespace}
	l := &looking{c: c, s: &s}
	var err error
	if s.Lacking, err = c.Lacking(ctx, namespace, Rights()); err != nil {
		if err := l.unread("rights", err); err != nil {
			return s, err
		}
	}
	for _, read := range []func(context.Context) error{l.server, l.jobs, l.pods, l.anchors, l.leases, l.owners} {
		err = read(ctx)
		s.At, s.Drift = c.Now(), c.Drift()
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// looking is the state of one Look.
type looking struct {
	c *cluster.Client
	s *Survey
}

// unread passes on an error, unless it only says that a right is missing.
func (l *looking) unread(what string, err error) error {
	if !cluster.Denied(err) {
		return err
	}
	l.s.Unread = append(l.s.Unread, fmt.Sprintf("%s (%v)", what, err))
	return nil
}

func (l *looking) server(ctx context.Context) error {
	info, err := l.c.ServerVersion(ctx)
	l.s.Server = info.GitVersion
	return l.unread("the server's version", err)
}

func (l *looking) jobs(ctx context.Context) error {
	jobs, err := l.c.Jobs(ctx, l.s.Namespace, "")
	for i := range jobs {
		l.s.Jobs = append(l.s.Jobs, &jobs[i])
	}
	return err
}

func (l *looking) pods(ctx context.Context) (err error) {
	l.s.Pods, err = l.c.PodsWith(ctx, l.s.Namespace, batchv1.JobNameLabel)
	l.s.PodsHidden = cluster.Denied(err)
	return l.unread("Pods: strays, and whether groups can go on", err)
}

func (l *looking) anchors(ctx context.Context) (err error) {
	l.s.Anchors, err = l.c.ConfigMaps(ctx, l.s.Namespace, work.LabelAnchor)
	return l.unread("anchors", err)
}

func (l *looking) leases(ctx context.Context) (err error) {
	l.s.Leases, err = l.c.Leases(ctx, l.s.Namespace, work.LabelGroup)
	l.s.LeasesHidden = cluster.Denied(err)
	return l.unread("the Leases of groups", err)
}

// maxOwners bounds the owners that are read one by one: those that are neither Jobs nor CronJobs nor anchors.
const maxOwners = 10

// owners reads those that Jobs name and no list has.
func (l *looking) owners(ctx context.Context) error {
	known, err := l.known(ctx)
	if err != nil {
		return err
	}
	l.s.Owners = map[Owner]OwnerState{}
	more := 0
	for _, job := range l.s.Jobs {
		for _, ref := range job.OwnerReferences {
			owner := ownerOf(job, ref)
			if _, looked := l.s.Owners[owner]; looked || known[ref.UID] || job.DeletionTimestamp != nil {
				continue
			}
			if len(l.s.Owners) == maxOwners {
				more++
				continue
			}
			state, err := l.owner(ctx, owner)
			if err != nil {
				return err
			}
			if state != nil {
				l.s.Owners[owner] = *state
			}
		}
	}
	if more > 0 {
		l.s.Unread = append(l.s.Unread, fmt.Sprintf("%d more owners of Jobs", more))
	}
	return nil
}

// known are the uids of everything that a list has: an owner among them is there.
func (l *looking) known(ctx context.Context) (map[types.UID]bool, error) {
	known := map[types.UID]bool{}
	crons := false
	for _, job := range l.s.Jobs {
		known[job.UID] = true
		for _, ref := range job.OwnerReferences {
			crons = crons || ref.Kind == "CronJob"
		}
	}
	for _, config := range l.s.Anchors {
		known[config.UID] = true
	}
	if !crons {
		return known, nil
	}
	all, err := l.c.CronJobs(ctx, l.s.Namespace)
	for _, cron := range all {
		known[cron.UID] = true
	}
	return known, l.unread("CronJobs", err)
}

// owner reads one owner; nil when it may not be read.
func (l *looking) owner(ctx context.Context, o Owner) (*OwnerState, error) {
	object, err := l.c.Object(ctx, o.APIVersion, o.Kind, o.Namespace, o.Name)
	var unknown *cluster.UnknownKindError
	switch {
	case errors.As(err, &unknown):
		return &OwnerState{Unknown: true}, nil
	case cluster.NotFound(err):
		return &OwnerState{}, nil
	case err != nil:
		if text := fmt.Sprintf("owners of kind %s (%v)", o.Kind, err); cluster.Denied(err) && !slices.Contains(l.s.Unread, text) {
			l.s.Unread = append(l.s.Unread, text)
		}
		if cluster.Denied(err) {
			return nil, nil //nolint:nilnil // documented
		}
		return nil, err
	}
	return &OwnerState{UID: (&unstructured.Unstructured{Object: object}).GetUID()}, nil
}
