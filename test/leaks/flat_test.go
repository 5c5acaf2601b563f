package leaks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-work/kubectl-work/pkg/commands"
)

// Ten thousand events leave a running watch as large as the first thousand did.
func TestWatchStaysFlat(t *testing.T) {
	config := sandbox(t)
	config.QPS, config.Burst = -1, -1
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	namespace := startJob(t, client)
	kubeconfig := t.TempDir() + "/config"
	require.NoError(t, clientcmd.WriteToFile(api.Config{
		Clusters:  map[string]*api.Cluster{"c": {Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*api.AuthInfo{"u": {ClientCertificate: config.CertFile, ClientCertificateData: config.CertData, ClientKey: config.KeyFile, ClientKeyData: config.KeyData}},
		Contexts:  map[string]*api.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: namespace}}, CurrentContext: "x",
	}, kubeconfig))

	ctx, interrupt := context.WithCancelCause(t.Context())
	ended := make(chan int, 1)
	var out, errs bytes.Buffer
	go func() {
		ended <- commands.Main(ctx, []string{"watch", "--kubeconfig", kubeconfig, "-o", "json"}, commands.Env{
			In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Getenv: func(string) string { return "" }, NewID: func() string { return "flat" },
		})
	}()
	events := func(n int) {
		const writers = 8
		var group errgroup.Group
		group.SetLimit(writers)
		for i := range n {
			group.Go(func() error {
				patch := fmt.Appendf(nil, `{"metadata":{"labels":{"event":"%d-%d"}}}`, n, i)
				_, err := client.BatchV1().Jobs(namespace).Patch(ctx, "talks", types.MergePatchType, patch, metav1.PatchOptions{})
				return err
			})
		}
		require.NoError(t, group.Wait())
	}
	const first, all, most = 1000, 10_000, 4 << 20
	events(first)
	heap, routines := size()
	events(all - first)
	heapThen, routinesThen := size()
	t.Logf("heap %d kB, then %d kB; goroutines %d, then %d", heap>>10, heapThen>>10, routines, routinesThen)
	require.Less(t, heapThen, heap+most)
	require.LessOrEqual(t, routinesThen, routines+2)
	interrupt(&commands.InterruptError{Signal: os.Interrupt})
	require.Equal(t, 130, <-ended, errs.String())
}

// size is the heap in use, in bytes, and the number of goroutines.
func size() (heap uint64, routines int) {
	runtime.GC()
	runtime.GC() // what the first made free
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}
