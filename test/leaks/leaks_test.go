// Package leaks runs whole commands in this process, through the fault proxy, and looks for goroutines that they leave
// behind. It needs the sandbox, like test/e2e.
package leaks

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-work/kubectl-work/pkg/commands"
	"github.com/kubectl-work/kubectl-work/test/faultproxy"
)

// faults are one of each kind that the proxy has, and none.
var faults = []struct {
	name string
	rule string // "" for a fault that is not a rule
	then func(*faultproxy.Proxy)
	code int // 0: any of 3, 7 and 8
}{
	{name: "none"},
	{name: "watches are cut", rule: "GET watch cut scope=stream after=200ms"},
	{name: "the connection is cut", rule: "GET watch nth=1 cut scope=conn after=500ms"},
	{name: "every request waits", rule: "delay for=300ms"},
	{name: "too many requests", rule: "GET every=2 answer code=429 retry-after=1s"},
	{name: "server errors", rule: "GET every=2 answer code=503"},
	{name: "expired watches", rule: "GET watch watch-error code=410"},
	{name: "expired lists", rule: "GET /apis/batch/v1/namespaces/*/jobs nowatch times=2 answer code=410 reason=Expired"},
	{name: "answers are dropped", rule: "GET nth=2 drop-answer scope=conn"},
	{name: "watches stall", rule: "GET watch stall"},
	{name: "refused by admission", rule: "GET answer code=403", code: 1},
	{name: "credentials are refused", rule: "GET from=500ms answer code=401"},
	{name: "the server is away", then: func(p *faultproxy.Proxy) { p.Down() }},
	{name: "the connection freezes", then: func(p *faultproxy.Proxy) { p.Freeze() }},
}

func TestWaitLeavesNothingBehind(t *testing.T) {
	config := sandbox(t)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	namespace := startJob(t, client)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			code := through(t, config, namespace, fault.rule, fault.then, "wait", "talks", "--logs", "--timeout=2s", "--retry-for=5s")
			if fault.code != 0 {
				require.Equal(t, fault.code, code)
			} else {
				require.Contains(t, []int{3, 7, 8}, code, "a run that goes on never ends a wait otherwise")
			}
			nothingLeft(t, before)
		})
	}
}

func TestWatchLeavesNothingBehind(t *testing.T) {
	config := sandbox(t)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	namespace := startJob(t, client)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			code := through(t, config, namespace, fault.rule, fault.then, "watch", "--debug-addr=127.0.0.1:0", "--retry-for=5s")
			require.Contains(t, []int{130, 1, 7, 8}, code)
			nothingLeft(t, before)
		})
	}
}

// nothingLeft fails when goroutines are there that were not before. An idle connection that is kept for the next request is none
// of ours: the proxy's own to the server is one.
func nothingLeft(t *testing.T, before goleak.Option) {
	t.Helper()
	require.NoError(t, goleak.Find(before, goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run")))
}

// patience is after how long what has no end of its own is interrupted.
const patience = 3 * time.Second

// through runs a command through the proxy, with all that it can have running beside it, interrupts it, and closes the proxy.
func through(t *testing.T, config *rest.Config, namespace, rule string, then func(*faultproxy.Proxy), args ...string) int {
	t.Helper()
	proxy, err := faultproxy.New(config)
	require.NoError(t, err)
	defer func() { require.NoError(t, proxy.Close()) }()
	if rule != "" {
		parsed, err := faultproxy.ParseRule(rule)
		require.NoError(t, err)
		proxy.Add(parsed)
	}
	kubeconfig, err := proxy.Kubeconfig(t.TempDir(), namespace)
	require.NoError(t, err)
	if then != nil {
		timer := time.AfterFunc(700*time.Millisecond, func() { then(proxy) })
		defer timer.Stop()
	}
	var out, errs bytes.Buffer
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer time.AfterFunc(patience, func() { interrupt(&commands.InterruptError{Signal: os.Interrupt}) }).Stop()
	code := commands.Main(ctx, append(args, "--kubeconfig", kubeconfig), commands.Env{
		In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Getenv: func(string) string { return "" }, NewID: func() string { return "leaks" },
	})
	t.Logf("code %d\n%s%s", code, out.String(), errs.String())
	return code
}

// startJob makes a namespace with a Job that talks for as long as the test runs.
func startJob(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	ctx := t.Context()
	ns, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "leaks-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.CoreV1().Namespaces().Delete(context.WithoutCancel(ctx), ns.Name, metav1.DeleteOptions{}))
	})
	account := func() bool {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	}
	require.Eventually(t, account, time.Minute, 50*time.Millisecond)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "talks"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "main", Image: "busybox:local", Command: []string{"sh", "-c", "while true; do date; sleep 0.1; done"}}},
	}}}}
	_, err = client.BatchV1().Jobs(ns.Name).Create(ctx, job, metav1.CreateOptions{})
	require.NoError(t, err)
	ready := func() bool {
		job, err := client.BatchV1().Jobs(ns.Name).Get(ctx, "talks", metav1.GetOptions{})
		return err == nil && job.Status.Ready != nil && *job.Status.Ready == 1
	}
	require.Eventually(t, ready, time.Minute, 100*time.Millisecond)
	return ns.Name
}

func sandbox(t *testing.T) *rest.Config {
	t.Helper()
	path := os.Getenv("SANDBOX_KUBECONFIG")
	if path == "" {
		out, err := exec.CommandContext(t.Context(), "../../bin/sandbox", "kubeconfig").Output()
		require.NoError(t, err, "this test needs the sandbox: make sandbox-up")
		path = strings.TrimSpace(string(out))
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	return config
}
