package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// suite is what all scripts share.
type suite struct {
	root       string // of the repository
	bin        string // first on PATH: kubectl-work and kubectl
	cases      string
	kubeconfig *clientcmdapi.Config // admin
	config     *rest.Config
	client     kubernetes.Interface
	dynamic    dynamic.Interface
}

// newSuite finds the cluster and puts the programs into a folder below dir.
func newSuite(ctx context.Context, dir string) (*suite, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	s := &suite{root: root, bin: filepath.Join(dir, "bin"), cases: filepath.Join(root, "test", "e2e", "testdata", "cases")}
	if err := s.connect(ctx, root); err != nil {
		return nil, fmt.Errorf("these tests need the sandbox: run `make e2e`, or `make sandbox-up` first: %w", err)
	}
	if err := os.Mkdir(s.bin, 0o755); err != nil {
		return nil, err
	}
	if err := s.plugin(ctx, root); err != nil {
		return nil, err
	}
	if err := s.kubectl(ctx, root); err != nil {
		return nil, err
	}
	return s, nil
}

func sandbox(root string) string { return filepath.Join(root, "bin", "sandbox") }

// connect reads the kubeconfig of the sandbox and makes sure that its node runs containers.
func (s *suite) connect(ctx context.Context, root string) error {
	path := os.Getenv("SANDBOX_KUBECONFIG")
	if path == "" {
		out, err := output(exec.CommandContext(ctx, sandbox(root), "kubeconfig"))
		if err != nil {
			return fmt.Errorf("SANDBOX_KUBECONFIG is not set and `bin/sandbox kubeconfig` failed: %w", err)
		}
		path = strings.TrimSpace(out)
	}
	var err error
	if s.kubeconfig, err = clientcmd.LoadFromFile(path); err != nil {
		return err
	}
	if err := clientcmdapi.FlattenConfig(s.kubeconfig); err != nil { // scripts copy it elsewhere
		return err
	}
	if s.config, err = clientcmd.NewDefaultClientConfig(*s.kubeconfig, nil).ClientConfig(); err != nil {
		return err
	}
	s.config.QPS = -1
	s.config.UserAgent = "e2e"
	s.config.Timeout = 30 * time.Second
	if s.client, err = kubernetes.NewForConfig(s.config); err != nil {
		return err
	}
	if s.dynamic, err = dynamic.NewForConfig(s.config); err != nil {
		return err
	}
	nodes, err := s.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if _, simulated := node.Annotations["kwok.x-k8s.io/node"]; !simulated {
			return nil
		}
	}
	return errors.New("no node of this cluster runs containers (a sandbox started by root does)")
}

// plugin puts kubectl-work into s.bin, static so that it also runs inside a Pod.
func (s *suite) plugin(ctx context.Context, root string) error {
	target := filepath.Join(s.bin, "kubectl-work")
	if given := os.Getenv("KUBECTL_WORK_BIN"); given != "" {
		path, err := filepath.Abs(given)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path) // a copy: a symlink would dangle inside a Pod
		if err != nil {
			return fmt.Errorf("KUBECTL_WORK_BIN: %w", err)
		}
		return os.WriteFile(target, data, 0o755)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", target, "./cmd/kubectl-work")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if _, err := output(build); err != nil {
		return fmt.Errorf("building the plugin: %w", err)
	}
	return nil
}

// kubectl puts a kubectl into s.bin that uses the kubeconfig of its caller.
func (s *suite) kubectl(ctx context.Context, root string) error {
	call := ""
	if given := os.Getenv("KUBECTL_BIN"); given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return fmt.Errorf("KUBECTL_BIN: %w", err)
		}
		call = `'` + path + `'`
	} else {
		path, err := s.sandboxProgram(ctx, root)
		if err != nil {
			return err
		}
		call = `'` + path + `' kubectl`
	}
	return os.WriteFile(filepath.Join(s.bin, "kubectl"), []byte("#!/bin/sh\nexec "+call+` "$@"`+"\n"), 0o755)
}

// sandboxProgram is the program behind `bin/sandbox kubectl`, which always is the admin of the sandbox. kubectl tells
// plugins its own path.
func (s *suite) sandboxProgram(ctx context.Context, root string) (string, error) {
	plugin := filepath.Join(s.bin, "kubectl-whereami")
	if err := os.WriteFile(plugin, []byte("#!/bin/sh\necho \"$KUBECTL_PATH\"\n"), 0o755); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, sandbox(root), "kubectl", "whereami")
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := output(cmd)
	if err != nil {
		return "", fmt.Errorf("bin/sandbox kubectl: %w", err)
	}
	return strings.TrimSpace(out), os.Remove(plugin)
}

// output runs cmd and returns its stdout; an error carries its stderr.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, stderr.String())
	}
	return stdout.String(), nil
}
