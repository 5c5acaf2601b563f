package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/build"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/controlplane"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/image"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/kwok"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/node"
)

// stepLimit bounds each step but the last of starting. On an idle machine none takes a tenth of it.
const stepLimit = time.Minute

// UpOptions say how to bring a sandbox up.
type UpOptions struct {
	Runtime instance.Runtime
	Wait    time.Duration // how long to wait for the node to be Ready; zero does not wait
}

// Up starts what does not run. If nothing runs it starts an empty cluster, whatever was in it before.
func (c Cluster) Up(ctx context.Context, o UpOptions) error {
	runtime, err := c.chooseRuntime(o.Runtime)
	if err != nil {
		return err
	}
	if err := instance.CheckHome(c.Home); err != nil {
		return err
	}
	i := instance.Instance{Runtime: runtime}
	if err := c.buildPrograms(ctx, &i); err != nil {
		return err
	}
	release, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if i, err = c.settle(ctx, i, o.Runtime); err != nil {
		return err
	}
	if i.Runtime == instance.Containerd {
		if err := node.InstallPackages(ctx, c.Say); err != nil {
			return err
		}
	}
	r := c.with(i)
	if err := r.launch(ctx, o.Wait); err != nil {
		return err
	}
	fmt.Fprintf(c.Say, "The sandbox is up: export KUBECONFIG=%s\n", i.Kubeconfig(credentials.Admin))
	return nil
}

func (c Cluster) chooseRuntime(wanted instance.Runtime) (instance.Runtime, error) {
	canRun := node.Supported && c.Root
	switch wanted {
	case instance.Auto:
		if canRun {
			return instance.Containerd, nil
		}
		return instance.Kwok, nil
	case instance.Containerd:
		if !canRun {
			return "", errors.New("--runtime=containerd needs root on Linux: use --runtime=kwok, which simulates the node")
		}
		return wanted, nil
	case instance.Kwok:
		return wanted, nil
	}
	return "", fmt.Errorf("--runtime=%s: want auto, containerd or kwok", wanted)
}

// buildPrograms makes sure that the programs are there, before the lock is taken: it may last a quarter of an hour.
func (c Cluster) buildPrograms(ctx context.Context, i *instance.Instance) error {
	folder, err := c.Builder.Ensure(ctx, build.Kube())
	if err != nil {
		return err
	}
	i.Kube = filepath.Join(folder, "kube")
	if i.Runtime == instance.Kwok {
		i.Kwok, err = c.Builder.Ensure(ctx, build.Kwok())
	}
	return err
}

// settle decides which instance to start: the one that runs, or a new one in place of what is left of another.
func (c Cluster) settle(ctx context.Context, fresh instance.Instance, wanted instance.Runtime) (instance.Instance, error) {
	old, err := c.open()
	switch {
	case errors.Is(err, instance.ErrNone):
		if entries, err := os.ReadDir(c.Home); err != nil || len(entries) > 0 {
			return fresh, errors.Join(err, fmt.Errorf("%s holds other things than a sandbox: set SANDBOX_HOME to a folder of its own", c.Home))
		}
	case err != nil:
		return fresh, err
	case old.anyRuns():
		if wanted != instance.Auto && wanted != old.Runtime {
			return fresh, fmt.Errorf("the sandbox runs with %s: `sandbox down` first, then start it with %s", old.Runtime, wanted)
		}
		if old.Kube != fresh.Kube {
			return fresh, errors.New("the sandbox runs an older build of Kubernetes: `sandbox down` first, then start it anew")
		}
		return old.Instance, nil
	default: // ended without us, as when the machine went down
		if err := old.remove(ctx, nothing); err != nil {
			return fresh, err
		}
	}
	i, err := instance.Allocate(c.Home, fresh.Runtime, node.Machine{})
	if err != nil {
		return fresh, err
	}
	i.Kube, i.Kwok = fresh.Kube, fresh.Kwok
	if i.Runtime == instance.Containerd {
		if i.Settings, err = node.ReadSettings(); err != nil {
			return fresh, err
		}
	}
	return i, i.Save()
}

func (r running) anyRuns() bool {
	for _, spec := range r.specs() {
		if _, runs := r.store.Pid(spec.Name); runs {
			return true
		}
	}
	return false
}

// launch starts all components, each as soon as what it needs is there.
func (r running) launch(ctx context.Context, wait time.Duration) error {
	if err := credentials.Ensure(r.Instance, r.Now()); err != nil {
		return err
	}
	if err := r.launchControlPlane(ctx); err != nil {
		return err
	}
	launchNode := r.launchContainerd
	if r.Runtime == instance.Kwok {
		launchNode = r.launchKwok
	}
	if err := launchNode(ctx); err != nil {
		return err
	}
	if wait == 0 {
		return nil
	}
	return r.awaitNode(ctx, wait)
}

func (r running) launchControlPlane(ctx context.Context) error {
	if err := os.MkdirAll(r.Path("etcd"), 0o700); err != nil {
		return err
	}
	if err := r.start(controlplane.Etcd, controlplane.APIServer, controlplane.Scheduler); err != nil {
		return err
	}
	api, err := r.probe()
	if err != nil {
		return err
	}
	if err := r.await(ctx, "API server", stepLimit, api.Ready); err != nil {
		return err
	}
	if err := r.start(controlplane.Controllers); err != nil {
		return err
	}
	if err := r.apply(ctx, controlplane.TenantManifest); err != nil {
		return err
	}
	return r.await(ctx, "controllers", stepLimit, func(ctx context.Context) error {
		return api.Exists(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
	})
}

func (r running) launchContainerd(ctx context.Context) error {
	if err := node.Prepare(r.Instance); err != nil {
		return err
	}
	if err := r.start(node.Forwarder, node.Registry, node.Containerd); err != nil {
		return err
	}
	dial := func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.ServiceIP().String()+":443")
		if err != nil {
			return err
		}
		return conn.Close()
	}
	if err := r.await(ctx, "way from Pods to the API server", stepLimit, dial); err != nil {
		return err
	}
	if err := r.await(ctx, "registry", stepLimit, r.registry().Ready); err != nil {
		return err
	}
	if err := r.await(ctx, "containerd", stepLimit, r.images().Ready); err != nil {
		return err
	}
	if err := r.pushBase(ctx); err != nil {
		return err
	}
	r.tell("images")
	return r.start(node.Kubelet)
}

func (r running) launchKwok(ctx context.Context) error {
	if err := kwok.WriteConfig(r.Instance); err != nil {
		return err
	}
	if err := r.start(kwok.Name); err != nil {
		return err
	}
	return r.apply(ctx, kwok.NodeManifest)
}

func (r running) awaitNode(ctx context.Context, limit time.Duration) error {
	api, err := r.probe()
	if err != nil {
		return err
	}
	return r.await(ctx, "node "+instance.NodeName+" Ready", limit, func(ctx context.Context) error {
		return api.NodeReady(ctx, r.Runtime == instance.Containerd)
	})
}

// apply hands a manifest to kubectl.
func (r running) apply(ctx context.Context, manifest []byte) error {
	command, environ := r.kubectl(r.store.Env, "apply", "--filename=-")
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Env, cmd.Dir = bytes.NewReader(manifest), environ, r.Instance.Home
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w\n%s", err, output)
	}
	return nil
}

func (r running) registry() *image.Registry { return image.NewRegistry(r.RegistryAddress()) }

func (r running) images() image.Node { return image.Node{Socket: node.Socket(r.Instance)} }
