package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/controlplane"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/node"
)

// State is how a sandbox is as a whole.
type State string

// The states of a sandbox.
const (
	Down     State = "down"
	Degraded State = "degraded" // some of it runs
	Up       State = "up"       // all of it runs, and the node is Ready
)

// Status is what `status` shows. Its JSON form is for scripts: fields are added, never changed.
type Status struct {
	State      State             `json:"state"`
	Home       string            `json:"home"`
	Runtime    instance.Runtime  `json:"runtime,omitempty"`
	Server     string            `json:"server,omitempty"`
	Kubeconfig string            `json:"kubeconfig,omitempty"`
	Components []ComponentStatus `json:"components,omitempty"`
	Problem    string            `json:"problem,omitempty"` // why it is degraded
}

// ComponentStatus is one component.
type ComponentStatus struct {
	Name  string `json:"name"`
	State string `json:"state"` // running, stopped, dead
	Pid   int    `json:"pid,omitempty"`
	Log   string `json:"log"`
}

// Status looks at the sandbox. It does not wait for the lock, so that it answers while another command works.
func (c Cluster) Status(ctx context.Context) (Status, error) {
	status := Status{State: Down, Home: c.Home}
	r, err := c.open()
	if errors.Is(err, instance.ErrNone) {
		return status, nil
	}
	if err != nil {
		return status, err
	}
	status.Runtime, status.Server, status.Kubeconfig = r.Runtime, r.APIServer(), r.Instance.Kubeconfig(credentials.Admin)
	all := true
	for _, spec := range r.specs() {
		component := ComponentStatus{Name: spec.Name, State: "stopped", Log: r.store.Log(spec.Name)}
		if pid, runs := r.store.Pid(spec.Name); runs {
			component.State, component.Pid = "running", pid
			status.State = Degraded
		} else if r.store.Started(spec.Name) {
			component.State = "dead"
		}
		all = all && component.Pid != 0
		status.Components = append(status.Components, component)
	}
	if status.State == Down {
		return status, nil
	}
	api, err := r.probe()
	if err == nil {
		err = api.NodeReady(ctx, r.Runtime == instance.Containerd)
	}
	switch {
	case err != nil:
		status.Problem = err.Error()
	case !all:
		status.Problem = "not all components run"
	default:
		status.State = Up
	}
	return status, nil
}

// Stop kills components, as when they crash. Containers go on when the kubelet stops. Nothing is lost: etcd's files
// are the kernel's by then.
func (c Cluster) Stop(ctx context.Context, names ...string) error {
	r, names, release, err := c.locked(ctx, names)
	if err != nil {
		return err
	}
	defer release()
	return r.store.Stop(ctx, 0, names...)
}

// Start starts components that were stopped, and waits until they serve.
func (c Cluster) Start(ctx context.Context, wait time.Duration, names ...string) error {
	r, names, release, err := c.locked(ctx, names)
	if err != nil {
		return err
	}
	defer release()
	if err := r.start(names...); err != nil {
		return err
	}
	if wait == 0 {
		return nil
	}
	if slices.Contains(names, controlplane.APIServer) || slices.Contains(names, controlplane.Etcd) {
		api, err := r.probe()
		if err != nil {
			return err
		}
		if err := r.await(ctx, "API server", wait, api.Ready); err != nil {
			return err
		}
	}
	if slices.Contains(names, node.Kubelet) {
		return r.awaitNode(ctx, wait)
	}
	return r.store.Dead(names...)
}

// locked takes the lock and completes the names of components.
func (c Cluster) locked(ctx context.Context, names []string) (r running, full []string, release func(), err error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return r, nil, nil, err
	}
	if r, err = c.open(); err == nil {
		full, err = r.complete(names)
	}
	if err != nil {
		unlock()
	}
	return r, full, unlock, err
}

func (r running) complete(names []string) ([]string, error) {
	if !r.anyRuns() {
		return nil, errors.New("the sandbox does not run: start it with `sandbox up`")
	}
	full := make([]string, 0, len(names))
	for _, name := range names {
		spec, err := r.spec(name)
		if err != nil {
			return nil, err
		}
		full = append(full, spec.Name)
	}
	return full, nil
}
