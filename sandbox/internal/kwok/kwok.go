// Package kwok says how a node is simulated where no real one can run.
//
// It is pure but for writing its configuration. What is simulated: Pods are scheduled, start, run as long as the
// `sleep N` in their command says and end with the code of its `exit N`. What is not: nothing is executed, and a log
// is one line that says so.
package kwok

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/process"
)

// Name of the component.
const Name = "kwok"

// NodeManifest is the node that is simulated. More of the kind may be created at any time: all are managed.
//
//go:embed node.yaml
var NodeManifest []byte

//go:embed pods.yaml
var pods []byte

// stages come from kwok itself.
var stages = []string{
	"node/fast/node-initialize.yaml", "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml", "pod/fast/pod-delete.yaml",
}

// Spec runs kwok.
func Spec(i instance.Instance) process.Spec {
	port := fmt.Sprint(i.KwokPort())
	args := []string{
		"--kubeconfig=" + i.Kubeconfig(credentials.Kwok), "--manage-all-nodes=true", "--node-lease-duration-seconds=40",
		"--node-ip=127.0.0.1", "--node-port=" + port, "--server-address=127.0.0.1:" + port,
		"--tls-cert-file=" + i.Path("pki", credentials.Kwok+".crt"), "--tls-private-key-file=" + i.Path("pki", credentials.Kwok+".key"),
		"--config=" + i.Path("kwok", "pods.yaml"), "--config=" + i.Path("kwok", "logs.yaml"),
	}
	for _, stage := range stages {
		args = append(args, "--config="+i.Kwok+"/kustomize/stage/"+stage)
	}
	return process.Spec{Name: Name, Path: i.Kwok + "/kwok", Args: args}
}

// WriteConfig writes the configuration files into the home.
func WriteConfig(i instance.Instance) error {
	if err := os.MkdirAll(i.Path("kwok"), 0o700); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"pods.yaml": pods,
		"logs.yaml": fmt.Appendf(nil, "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: ClusterLogs\nmetadata:\n  name: simulated\n"+
			"spec:\n  logs:\n    - logsFile: %q\n", i.Path("kwok", "log.txt")),
		// The format is that of container logs on a node: time, stream, whole line, text.
		"log.txt": []byte("1970-01-01T00:00:00Z stdout F this container is simulated: nothing runs in it\n"),
	} {
		if err := os.WriteFile(i.Path("kwok", name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
