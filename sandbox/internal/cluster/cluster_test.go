package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/process"
)

func onDisk(t *testing.T, runtime instance.Runtime) (running, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	c := Cluster{Home: t.TempDir(), Driver: "/driver", Say: &said, Now: time.Now, Environ: os.Environ()}
	i := instance.Instance{Home: c.Home, Runtime: runtime, Kube: "/cache/kube", Kwok: "/cache/kwok"}
	if err := i.Save(); err != nil {
		t.Fatal(err)
	}
	return c.with(i), &said
}

func TestStartOrder(t *testing.T) {
	for runtime, want := range map[instance.Runtime]string{
		instance.Containerd: "etcd apiserver scheduler controllers forwarder registry containerd kubelet",
		instance.Kwok:       "etcd apiserver scheduler controllers kwok",
	} {
		r, _ := onDisk(t, runtime)
		var got []string
		for _, spec := range r.specs() {
			got = append(got, spec.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", runtime, got)
		}
		if last, err := r.spec("node"); err != nil || last.Name != got[len(got)-1] {
			t.Errorf("%s: node is %s, %v", runtime, last.Name, err)
		}
	}
}

func TestComponentsDoNotGoThroughAProxy(t *testing.T) {
	got := componentEnviron([]string{"PATH=/bin", "HTTPS_PROXY=http://p", "no_proxy=x", "KUBECONFIG=/k", "HOME=/h"})
	if !slices.Equal(got, []string{"PATH=/bin", "HOME=/h"}) {
		t.Error(got)
	}
}

func TestKubectlTurnsToTheSandbox(t *testing.T) {
	r, _ := onDisk(t, instance.Kwok)
	command, environ := r.kubectl([]string{"KUBECONFIG=/production", "HOME=/h"}, "get", "pods")
	if !slices.Equal(command, []string{"/cache/kube", "kubectl", "get", "pods"}) {
		t.Error(command)
	}
	want := []string{"HOME=/h", "KUBECONFIG=" + r.Path("kubeconfig/admin.yaml"), "KUBECACHEDIR=" + r.Path("kubectl-cache")}
	if !slices.Equal(environ, want) {
		t.Error(environ)
	}
}

func TestAwaitGivesUpWhenAComponentDies(t *testing.T) {
	r, _ := onDisk(t, instance.Kwok)
	if err := r.store.Start(process.Spec{Name: "etcd", Path: "/bin/sh", Args: []string{"-c", "echo no space left; exit 1"}}); err != nil {
		t.Fatal(err)
	}
	err := r.await(t.Context(), "API server", time.Minute, func(context.Context) error { return errors.New("refused") })
	var died *process.DiedError
	if !errors.As(err, &died) || died.Name != "etcd" || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}

func TestAwaitTellsWhatItWaitedFor(t *testing.T) {
	r, said := onDisk(t, instance.Kwok)
	err := r.await(t.Context(), "API server", 10*time.Millisecond, func(context.Context) error { return errors.New("refused") })
	if err == nil || !strings.Contains(err.Error(), "API server: not within 10ms: refused") {
		t.Errorf("got %v", err)
	}
	tries := 0
	err = r.await(t.Context(), "API server", time.Minute, func(context.Context) error {
		if tries++; tries < 3 {
			return errors.New("refused")
		}
		return nil
	})
	if err != nil || tries != 3 || !strings.Contains(said.String(), "API server") {
		t.Errorf("%d tries, %v, said %q", tries, err, said.String())
	}
}

func TestRemoveKeepsWhatItIsTold(t *testing.T) {
	for name, test := range map[string]struct{ keep, want []string }{
		"reset": {forAReset, []string{"instance.json", "log", "pki"}},
		"down":  {nothing, nil},
	} {
		r, _ := onDisk(t, instance.Kwok)
		for _, folder := range []string{"pki", "log", "etcd/data", "kwok"} {
			if err := os.MkdirAll(r.Path(folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.store.Start(process.Spec{Name: "etcd", Path: "/bin/sleep", Args: []string{"600"}}); err != nil {
			t.Fatal(err)
		}
		pid, _ := r.store.Pid("etcd")
		if err := r.remove(t.Context(), test.keep); err != nil {
			t.Fatal(err)
		}
		entries, err := filepath.Glob(r.Path("*"))
		if err != nil {
			t.Fatal(err)
		}
		for n := range entries {
			entries[n] = filepath.Base(entries[n])
		}
		if !slices.Equal(entries, test.want) {
			t.Errorf("%s leaves %v, want %v", name, entries, test.want)
		}
		if _, runs := r.store.Pid("etcd"); runs {
			t.Errorf("%s leaves process %d", name, pid)
		}
	}
}

func TestSettleLeavesOtherFoldersAlone(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := Cluster{Home: home, Now: time.Now}
	_, err := c.settle(t.Context(), instance.Instance{Runtime: instance.Kwok}, instance.Auto)
	if err == nil || !strings.Contains(err.Error(), "other things than a sandbox") {
		t.Errorf("got %v", err)
	}
}

func TestStatusOfAHalfDeadSandbox(t *testing.T) {
	r, _ := onDisk(t, instance.Kwok)
	if err := r.store.Start(process.Spec{Name: "etcd", Path: "/bin/sleep", Args: []string{"600"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Stop(context.Background(), 0, "etcd") })
	status, err := r.Cluster.Status(t.Context())
	if err != nil || status.State != Degraded || status.Problem == "" {
		t.Errorf("%+v, %v", status, err)
	}
	if got := status.Components[0]; got.State != "running" || status.Components[1].State != "stopped" {
		t.Errorf("%+v", status.Components)
	}
}
