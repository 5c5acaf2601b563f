package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/node"
)

// What of a home survives being removed.
var (
	nothing   []string
	forAReset = []string{"instance.json", "pki", "kubeconfig", "log"}
)

// Down stops everything and leaves nothing. It does so from any state, and again.
func (c Cluster) Down(ctx context.Context) error {
	if _, err := os.Stat(c.Home); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(c.Say, "There is no sandbox.")
		return nil
	}
	release, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	r, err := c.open()
	if errors.Is(err, instance.ErrNone) {
		fmt.Fprintln(c.Say, "There is no sandbox.")
		_ = os.Remove(c.Home) // the lock may just have made it; what is not empty stays
		return nil
	}
	if err != nil {
		return err
	}
	if err := r.remove(ctx, nothing); err != nil {
		return err
	}
	r.tell("The sandbox is down, nothing is left")
	return os.Remove(c.Home)
}

// Reset gives a clean cluster with the credentials and the address it had.
func (c Cluster) Reset(ctx context.Context, wait time.Duration) error {
	release, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	r, err := c.open()
	if err != nil {
		return err
	}
	if err := r.remove(ctx, forAReset); err != nil {
		return err
	}
	r.tell("old cluster gone")
	if taken := r.Taken(node.Machine{}); taken != "" {
		return fmt.Errorf("another program listens on %s now: `sandbox down`, then `sandbox up` finds another address", taken)
	}
	return r.launch(ctx, wait)
}

// remove stops all components and deletes what they left, but for the named entries of the home. Everything is killed:
// nothing of what an orderly end would save is kept.
func (r running) remove(ctx context.Context, keep []string) error {
	names, err := r.store.Names()
	if err != nil {
		return err
	}
	if err := r.store.Stop(ctx, 0, names...); err != nil {
		return err
	}
	if r.Runtime == instance.Containerd {
		if err := node.Clean(ctx, r.Instance); err != nil {
			return fmt.Errorf("something is left of the node: %w", err)
		}
		if len(keep) == 0 {
			if err := node.RestoreSettings(r.Settings); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(r.Instance.Home)
	if err != nil {
		return err
	}
	// instance.json goes last: it is what says that the rest is ours.
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return rank(a) - rank(b) })
	for _, entry := range entries {
		if slices.Contains(keep, entry.Name()) {
			continue
		}
		if err := os.RemoveAll(r.Path(entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func rank(entry os.DirEntry) int {
	if entry.Name() == "instance.json" {
		return 1
	}
	return 0
}
