package build

import "github.com/kubectl-work/kubectl-work/sandbox"

// KubernetesVersion is what the sandbox runs; it must be the one in go.mod (TestVersionIsPinned).
const KubernetesVersion = "v1.37.2"

const stamp = "k8s.io/component-base/version"

// Kube is Kubernetes in one binary.
func Kube() Program {
	return Program{
		Name: "kube", Package: "./cmd/kube", Sources: sandbox.Kube,
		Flags: []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w" +
			" -X " + stamp + ".gitVersion=" + KubernetesVersion + " -X " + stamp + ".gitMajor=1 -X " + stamp + ".gitMinor=37" +
			" -X " + stamp + ".gitTreeState=clean -X " + stamp + ".gitCommit=0000000 -X " + stamp + ".buildDate=2026-01-01T00:00:00Z"},
		Notice: "Building Kubernetes " + KubernetesVersion + " from source, once on this machine: about 15 minutes on two cores,\n" +
			"5 GB of disk (0.9 GB modules, 3.1 GB build cache, 0.2 GB program; the rest while it builds).",
	}
}

// Kwok simulates a node; its stages, which say how, lie beside it.
func Kwok() Program {
	return Program{
		Name: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok", Sources: sandbox.Kwok,
		Rename:  map[string]string{"kwok/kwok.mod": "go.mod", "kwok/kwok.sum": "go.sum"},
		Flags:   []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w"},
		Modules: []string{"sigs.k8s.io/kwok//kustomize/stage"},
		Notice:  "Building kwok, which simulates the node, once on this machine: about 2 minutes on two cores.",
	}
}
