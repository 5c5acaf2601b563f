package node

import "github.com/kubectl-work/kubectl-work/sandbox/internal/instance"

// Supported tells whether real nodes can run on this system.
const Supported = true

// Prepare makes what containerd and the kubelet find when they start.
func Prepare(i instance.Instance) error {
	layers, err := snapshotter(i)
	if err != nil {
		return err
	}
	if err := writeConfig(i, layers); err != nil {
		return err
	}
	if err := makeBridge(i); err != nil {
		return err
	}
	return makeCgroups(i)
}
