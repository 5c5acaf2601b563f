package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-work/kubectl-work/test/faultproxy"
)

// script is what the commands of one script share.
type script struct {
	*suite
	ctx        context.Context
	namespace  string
	limit      time.Duration // for the next program; set by within
	background map[string]*process
	starting   map[string]func(*process) // called when the program of that name starts
	proxy      *faultproxy.Proxy
	leftovers  []func(context.Context) error // take away what is in no namespace
}

type scriptKey struct{}

func of(ts *testscript.TestScript) *script {
	s, ok := ts.Value(scriptKey{}).(*script)
	if !ok {
		ts.Fatalf("the script has no setup")
	}
	return s
}

// setup gives a script its namespace and environment.
func (s *suite) setup(env *testscript.Env) error {
	t, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("testscript runs without testing.T")
	}
	ctx := t.Context()
	namespace, err := s.createNamespace(ctx, filepath.Base(env.WorkDir))
	if err != nil {
		return err
	}
	sc := &script{suite: s, ctx: ctx, namespace: namespace, background: map[string]*process{}, starting: map[string]func(*process){}}
	env.Values[scriptKey{}] = sc
	env.Defer(func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		sc.end(after, t)
	})

	home := filepath.Join(env.WorkDir, ".home")
	kubeconfig := filepath.Join(home, ".kube", "config")
	if err := os.MkdirAll(filepath.Dir(kubeconfig), 0o700); err != nil {
		return err
	}
	cfg := s.kubeconfig.DeepCopy()
	cfg.Contexts[cfg.CurrentContext].Namespace = namespace
	if err := clientcmd.WriteToFile(*cfg, kubeconfig); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("PATH", s.bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("NS", namespace)
	env.Setenv("CONTEXT", cfg.CurrentContext)
	env.Setenv("SERVER", s.config.Host)
	env.Setenv("CASES", s.cases)
	env.Setenv("BIN", s.bin)
	env.Setenv("ROOT", s.root)
	return nil
}

// createNamespace also waits for its service account, so that no Pod meets a namespace that is half there.
func (s *suite) createNamespace(ctx context.Context, workdir string) (string, error) {
	name := "e2e-" + strings.TrimPrefix(workdir, "script-") + "-"
	created, err := s.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: name, Labels: map[string]string{"kubectl-work.dev/e2e": "true"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			_, err := s.client.CoreV1().ServiceAccounts(created.Name).Get(ctx, "default", metav1.GetOptions{})
			return err == nil, nil
		})
	if err != nil {
		return "", fmt.Errorf("service account default of namespace %s: %w", created.Name, err)
	}
	return created.Name, nil
}

// end stops what a script started. A failed script first tells how things stood on the cluster.
func (s *script) end(ctx context.Context, t testing.TB) {
	for _, p := range s.background {
		p.kill()
	}
	if s.proxy != nil {
		if t.Failed() {
			for _, r := range s.proxy.Requests() {
				t.Log("proxy:", r)
			}
		}
		if err := s.proxy.Close(); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.Log(s.state(ctx))
	}
	for _, remove := range s.leftovers {
		if err := remove(ctx); err != nil {
			t.Log(err)
		}
	}
	if *keep {
		return
	}
	err := s.client.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{})
	if err != nil {
		t.Log(err)
	}
}

// state is a short account of the namespace, for the log of a failed script.
func (s *script) state(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "namespace %s\n", s.namespace)
	if jobs, err := s.client.BatchV1().Jobs(s.namespace).List(ctx, metav1.ListOptions{}); err == nil {
		for _, j := range jobs.Items {
			fmt.Fprintf(&b, "  job %s active=%d ready=%v succeeded=%d failed=%d", j.Name, j.Status.Active,
				j.Status.Ready != nil && *j.Status.Ready > 0, j.Status.Succeeded, j.Status.Failed)
			for _, c := range j.Status.Conditions {
				fmt.Fprintf(&b, " %s=%s/%s", c.Type, c.Status, c.Reason)
			}
			fmt.Fprintln(&b)
		}
	}
	if pods, err := s.client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{}); err == nil {
		for _, p := range pods.Items {
			fmt.Fprintf(&b, "  pod %s %s", p.Name, p.Status.Phase)
			for _, c := range p.Status.ContainerStatuses {
				switch {
				case c.State.Waiting != nil:
					fmt.Fprintf(&b, " %s:%s", c.Name, c.State.Waiting.Reason)
				case c.State.Terminated != nil:
					fmt.Fprintf(&b, " %s:%s/%d", c.Name, c.State.Terminated.Reason, c.State.Terminated.ExitCode)
				}
			}
			fmt.Fprintln(&b)
		}
	}
	if events, err := s.client.CoreV1().Events(s.namespace).List(ctx, metav1.ListOptions{}); err == nil {
		for _, e := range events.Items {
			if e.Type != corev1.EventTypeNormal {
				fmt.Fprintf(&b, "  event %s %s: %s\n", e.InvolvedObject.Name, e.Reason, e.Message)
			}
		}
	}
	return b.String()
}
