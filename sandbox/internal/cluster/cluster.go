// Package cluster brings a sandbox up, shows it, resets it, and takes it down.
//
// It owns the order in which things happen; what each thing is, the packages below know. Every operation holds the
// lock of the home while it works. It leaves a cluster that could not be started as it is, so that its logs can be
// read; Down removes it in any state.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/build"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/controlplane"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/kwok"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/lock"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/node"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/probe"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/process"
)

// Cluster is one sandbox of this machine, whether it runs or not.
type Cluster struct {
	Home    string
	Driver  string // this program, which is also the forwarder
	Builder build.Builder
	Say     io.Writer // progress
	Now     func() time.Time
	Root    bool
	Environ []string
}

// running is a cluster whose instance is known.
type running struct {
	Cluster
	instance.Instance
	store process.Store
	began time.Time
}

func (c Cluster) with(i instance.Instance) running {
	store := process.Store{Home: i.Home, Env: componentEnviron(c.Environ)}
	return running{Cluster: c, Instance: i, store: store, began: c.Now()}
}

// open returns the cluster of the home, or instance.ErrNone.
func (c Cluster) open() (running, error) {
	i, err := instance.Load(c.Home)
	if err != nil {
		return running{}, err
	}
	return c.with(i), nil
}

func (c Cluster) lock(ctx context.Context) (release func(), err error) {
	return lock.Take(ctx, c.Home, func() { fmt.Fprintln(c.Say, "Waiting for another sandbox command to end.") })
}

// componentEnviron keeps from components what would send their calls within this machine elsewhere.
func componentEnviron(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(strings.ToLower(entry), "=")
		return strings.HasSuffix(name, "_proxy") || name == "kubeconfig"
	})
}

// specs are the components in the order in which they start.
func (r running) specs() []process.Spec {
	i := r.Instance
	all := []process.Spec{
		controlplane.EtcdSpec(i), controlplane.APIServerSpec(i), controlplane.SchedulerSpec(i), controlplane.ControllersSpec(i),
	}
	if i.Runtime == instance.Kwok {
		return append(all, kwok.Spec(i))
	}
	return append(all, node.ForwarderSpec(i, r.Driver), node.RegistrySpec(i), node.ContainerdSpec(i), node.KubeletSpec(i))
}

// spec finds a component; the last one is also called "node", whatever stands behind it.
func (r running) spec(name string) (process.Spec, error) {
	all := r.specs()
	if name == "node" {
		return all[len(all)-1], nil
	}
	var known []string
	for _, spec := range all {
		if spec.Name == name {
			return spec, nil
		}
		known = append(known, spec.Name)
	}
	return process.Spec{}, fmt.Errorf("there is no component %q here; there are %s", name, strings.Join(known, ", "))
}

// start starts components by name.
func (r running) start(names ...string) error {
	for _, name := range names {
		spec, err := r.spec(name)
		if err != nil {
			return err
		}
		if err := r.store.Start(spec); err != nil {
			return err
		}
	}
	return nil
}

// await asks again and again until there is no error, tells how long it took, and gives up early when a component
// has died.
func (r running) await(ctx context.Context, what string, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := attempt(ctx, check)
		if err == nil {
			r.tell(what)
			return nil
		}
		names, namesErr := r.store.Names()
		if dead := errors.Join(namesErr, r.store.Dead(names...)); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%s: not within %s: %w; logs are in %s", what, limit, err, r.Path("log"))
			}
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// attempt bounds one question: one that hangs must not hide that a component has died.
func attempt(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return check(ctx)
}

func (r running) tell(what string) {
	fmt.Fprintf(r.Say, "  %-34s %5.1f s\n", what, r.Now().Sub(r.began).Seconds())
}

func (r running) probe() (*probe.Client, error) { return probe.New(r.Instance) }

// Kubectl returns the command line and the environment of the kubectl that belongs to the sandbox, as its admin.
func (c Cluster) Kubectl(args ...string) (command, environ []string, err error) {
	r, err := c.open()
	if err != nil {
		return nil, nil, err
	}
	command, environ = r.kubectl(c.Environ, args...)
	return command, environ, nil
}

// kubectl keeps its cache below the home: it is about this cluster and must not outlive it.
func (r running) kubectl(environ []string, args ...string) (command, with []string) {
	with = slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { // of two, a program may see the first
		return strings.HasPrefix(entry, "KUBECONFIG=") || strings.HasPrefix(entry, "KUBECACHEDIR=")
	})
	with = append(with, "KUBECONFIG="+r.Instance.Kubeconfig(credentials.Admin), "KUBECACHEDIR="+r.Path("kubectl-cache"))
	return append([]string{r.Kube, "kubectl"}, args...), with
}

// Kubeconfig returns the path of a user's kubeconfig.
func (c Cluster) Kubeconfig(user string) (string, error) {
	r, err := c.open()
	if err != nil {
		return "", err
	}
	path := r.Instance.Kubeconfig(user)
	_, err = os.Stat(path)
	return path, err
}
