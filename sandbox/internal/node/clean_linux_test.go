package node

import (
	"testing"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

func TestParseMounts(t *testing.T) {
	got, err := parseMounts(`22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 22 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
40 22 0:40 / /home/with\040space/x rw - tmpfs tmpfs rw
`)
	want := []mount{{"/", "ext4"}, {"/sys/fs/cgroup/cpu", "cgroup"}, {"/home/with space/x", "tmpfs"}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("line %d: %v, want %v", n, got[n], want[n])
		}
	}
	if _, err := parseMounts("half a line\n"); err == nil {
		t.Error("half a line is read")
	}
}

func TestIsHelper(t *testing.T) {
	i := instance.Instance{Home: "/h/run"}
	for name, test := range map[string]struct {
		command []string
		want    bool
	}{
		"shim":             {[]string{"/usr/bin/containerd-shim-runc-v2", "-address", "/h/run/containerd.sock"}, true},
		"runc":             {[]string{"runc", "--root", "/h/run/containerd/runc/k8s.io", "create"}, true},
		"another's shim":   {[]string{"/usr/bin/containerd-shim-runc-v2", "-address", "/run/containerd/containerd.sock"}, false},
		"a sibling's shim": {[]string{"/usr/bin/containerd-shim-runc-v2", "-address", "/h/run2/containerd.sock"}, false},
		"an editor":        {[]string{"vi", "/h/run/kubelet.yaml"}, false},
		"kernel thread":    {[]string{""}, false},
	} {
		if got := isHelper(test.command, i); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
