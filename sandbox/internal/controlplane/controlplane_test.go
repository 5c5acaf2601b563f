package controlplane

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/process"
)

func specs(i instance.Instance) []process.Spec {
	return []process.Spec{EtcdSpec(i), APIServerSpec(i), SchedulerSpec(i), ControllersSpec(i)}
}

func TestNothingListensOutsideLoopback(t *testing.T) {
	i := instance.Instance{Home: "/h", Kube: "/kube", Slot: 1}
	want := map[string][]string{
		Etcd:        {"--listen-client-url=unix:///h/etcd.sock"},
		APIServer:   {"--bind-address=127.0.0.1", "--secure-port=16453", "--anonymous-auth=false", "--authorization-mode=Node,RBAC"},
		Scheduler:   {"--secure-port=0"},
		Controllers: {"--secure-port=0"},
	}
	for _, spec := range specs(i) {
		for _, flag := range want[spec.Name] {
			if !slices.Contains(spec.Args, flag) {
				t.Errorf("%s lacks %s: %v", spec.Name, flag, spec.Args)
			}
		}
		for _, arg := range spec.Args {
			if strings.Contains(arg, "0.0.0.0") {
				t.Errorf("%s: %s", spec.Name, arg)
			}
		}
	}
}

func TestSpecsDoNotShareFlags(t *testing.T) {
	i := instance.Instance{Home: "/h", Kube: "/kube"}
	first := slices.Clone(SchedulerSpec(i).Args)
	ControllersSpec(i)
	if !slices.Equal(first, SchedulerSpec(i).Args) {
		t.Error("one spec writes into another")
	}
}
