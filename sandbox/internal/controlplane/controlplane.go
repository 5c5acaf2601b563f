// Package controlplane says how etcd, the API server, the scheduler and the controllers are run.
//
// It is pure: an instance in, command lines and manifests out. It never starts anything. etcd listens on a socket in
// the instance's private folder and on nothing else; the API server on loopback; the others on no address at all.
package controlplane

import (
	_ "embed"
	"strings"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/process"
)

// Names of the components.
const (
	Etcd        = "etcd"
	APIServer   = "apiserver"
	Scheduler   = "scheduler"
	Controllers = "controllers"
)

// TenantManifest is what the user "tenant" may do: own Jobs and watch their Pods, in one namespace.
//
//go:embed tenant.yaml
var TenantManifest []byte

// controllers are those that Jobs, Pods, namespaces and access need. Each one more costs start-up time.
var controllers = []string{
	"job-controller", "cronjob-controller", "ttl-after-finished-controller", "garbage-collector-controller",
	"pod-garbage-collector-controller", "namespace-controller", "serviceaccount-controller",
	"serviceaccount-token-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller",
	"resourcequota-controller", "node-lifecycle-controller", "taint-eviction-controller", "disruption-controller",
	"persistentvolume-binder-controller",
}

// EtcdSpec runs etcd. Its working folder takes the socket for peers, which nobody calls.
func EtcdSpec(i instance.Instance) process.Spec {
	return process.Spec{Name: Etcd, Path: i.Kube, Dir: i.Path("etcd"), Args: []string{
		"etcd", "--data-dir=" + i.Path("etcd", "data"), "--listen-client-url=" + etcdURL(i),
	}}
}

func etcdURL(i instance.Instance) string { return "unix://" + i.Path("etcd.sock") }

// APIServerSpec runs the API server. No reconciler publishes its endpoints: it is reached on loopback by the machine,
// and by Pods at the address of the Service "kubernetes", where a forwarder listens.
func APIServerSpec(i instance.Instance) process.Spec {
	host, port, _ := strings.Cut(i.APIAddress(), ":")
	pki := func(name string) string { return i.Path("pki", name) }
	return process.Spec{Name: APIServer, Path: i.Kube, Args: []string{
		"kube-apiserver",
		"--etcd-servers=" + etcdURL(i),
		"--bind-address=" + host, "--secure-port=" + port, "--advertise-address=" + i.NodeIP().String(),
		"--authorization-mode=Node,RBAC", "--anonymous-auth=false", "--enable-admission-plugins=NodeRestriction",
		"--client-ca-file=" + pki("ca.crt"),
		"--tls-cert-file=" + pki(credentials.APIServer+".crt"), "--tls-private-key-file=" + pki(credentials.APIServer+".key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("sa.key"), "--service-account-signing-key-file=" + pki("sa.key"),
		"--service-cluster-ip-range=" + i.ServiceNetwork().String(), "--endpoint-reconciler-type=none",
		"--kubelet-client-certificate=" + pki(credentials.KubeletClient+".crt"),
		"--kubelet-client-key=" + pki(credentials.KubeletClient+".key"),
		"--kubelet-certificate-authority=" + pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
		"--profiling=false", "--shutdown-delay-duration=0s",
	}}
}

// SchedulerSpec runs the scheduler.
func SchedulerSpec(i instance.Instance) process.Spec {
	return process.Spec{Name: Scheduler, Path: i.Kube, Args: append([]string{
		"kube-scheduler", "--kubeconfig=" + i.Kubeconfig(credentials.Scheduler),
	}, alone...)}
}

// ControllersSpec runs the controllers. It must be started after the API server is ready: it gives up after 10 s.
func ControllersSpec(i instance.Instance) process.Spec {
	return process.Spec{Name: Controllers, Path: i.Kube, Args: append([]string{
		"kube-controller-manager", "--kubeconfig=" + i.Kubeconfig(credentials.Controllers),
		"--controllers=" + strings.Join(controllers, ","),
		"--use-service-account-credentials=true", "--service-account-private-key-file=" + i.Path("pki", "sa.key"),
		"--root-ca-file=" + i.Path("pki", "ca.crt"),
		"--concurrent-job-syncs=20", "--node-monitor-grace-period=40s",
	}, alone...)}
}

// alone are the flags of a component that has no twin to agree with, serves nobody, and may ask as fast as it can.
var alone = []string{"--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"}
