package credentials

import (
	"net/netip"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// Names of the certificates that components present, below the folder pki.
const (
	APIServer     = "apiserver"
	Controllers   = "controllers"
	Scheduler     = "scheduler"
	KubeletClient = "kubelet-client" // as whom the API server calls the kubelet
	Kubelet       = "kubelet"
	Kwok          = "kwok"
)

// The users that kubeconfigs are handed out for.
const (
	Admin  = "admin"
	Tenant = "tenant" // also the name of the namespace, the only place where this user may do anything
)

// Users are the values of `kubeconfig --user`.
func Users() []string { return []string{Admin, Tenant} }

const masters = "system:masters"

// Ensure makes what is missing of a sandbox's certificates and kubeconfigs.
func Ensure(i instance.Instance, now time.Time) error {
	authority, err := OpenAuthority(i.Path("pki"), now)
	if err != nil {
		return err
	}
	if err := authority.SigningKey(); err != nil {
		return err
	}
	for _, subject := range subjects(i) {
		if err := authority.Issue(subject); err != nil {
			return err
		}
	}
	for _, name := range []string{Admin, Tenant, Controllers, Scheduler, Kubelet, Kwok} {
		namespace := "default"
		if name == Tenant {
			namespace = Tenant
		}
		if err := authority.WriteKubeconfig(i.Kubeconfig(name), i.APIServer(), name, namespace); err != nil {
			return err
		}
	}
	return nil
}

func subjects(i instance.Instance) []Subject {
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	inCluster := []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	return []Subject{
		{Name: APIServer, User: "kube-apiserver", DNS: inCluster, Addresses: []netip.Addr{loopback, i.NodeIP(), i.ServiceIP()}},
		{Name: Admin, User: "admin", Group: masters},
		{Name: Tenant, User: "tenant", Group: "tenants"},
		{Name: Controllers, User: "system:kube-controller-manager"},
		{Name: Scheduler, User: "system:kube-scheduler"},
		{Name: KubeletClient, User: "kube-apiserver-kubelet-client", Group: masters},
		{
			Name: Kubelet, User: "system:node:" + instance.NodeName, Group: "system:nodes",
			DNS: []string{instance.NodeName}, Addresses: []netip.Addr{loopback, i.NodeIP()},
		},
		{Name: Kwok, User: "kwok", Group: masters, DNS: []string{instance.NodeName}, Addresses: []netip.Addr{loopback}},
	}
}
