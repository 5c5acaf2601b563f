package cluster

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// How long a leader may be silent, how long it tries to renew before it steps down, and how often the others look. They are
// those of kube-controller-manager (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager).
const (
	leaseTime    = 15 * time.Second
	renewTime    = 10 * time.Second
	electionLook = 2 * time.Second
)

// Election is one Lease of which one client at a time is the holder.
type Election struct {
	Namespace, Lease string
	Identity         string                      // of this client
	Labels           map[string]string           // of the Lease, when it has to be made
	Leads            func(while context.Context) // this client became the holder, for as long as that context lasts
	Sees             func(identity string)       // the holder is another one than before
}

// TakePart takes part in an election until ctx ends, and then gives the Lease back at once.
func (c *Client) TakePart(ctx context.Context, e Election) error {
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Lease}, Client: c.leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
		},
		LeaseDuration: leaseTime, RenewDeadline: renewTime, RetryPeriod: electionLook, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: e.Leads,
			OnStoppedLeading: func() {},
			OnNewLeader:      e.Sees,
		},
	})
	if err != nil {
		return fmt.Errorf("take part in the election %s/%s: %w", e.Namespace, e.Lease, err)
	}
	for ctx.Err() == nil {
		elector.Run(ctx)
	}
	return nil
}
