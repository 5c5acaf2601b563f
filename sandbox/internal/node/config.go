// Package node runs a real node: a bridge, a registry, containerd, a forwarder to the API server, and the kubelet.
//
// It owns everything that such a node leaves on the machine, inside and outside the home, and takes all of it away
// again (Clean). It never touches a link, mount, control group or process that does not carry the instance's name or
// lie below its home.
package node

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/process"
)

// Names of the components.
const (
	Registry   = "registry"
	Containerd = "containerd"
	Forwarder  = "forwarder"
	Kubelet    = "kubelet"
)

const (
	pluginFolder = "/usr/lib/cni" // where Debian puts the network plugins
	// PauseImage holds the namespaces of a Pod.
	PauseImage = "sandbox.local/pause:1"
)

//go:embed containerd.toml registry.yaml
var templates embed.FS

// Socket is where containerd listens.
func Socket(i instance.Instance) string { return i.Path("containerd.sock") }

// RegistrySpec runs the registry that every image comes from.
func RegistrySpec(i instance.Instance) process.Spec {
	return process.Spec{Name: Registry, Path: "docker-registry", Args: []string{"serve", i.Path("registry.yaml")}}
}

// ContainerdSpec runs containerd.
func ContainerdSpec(i instance.Instance) process.Spec {
	return process.Spec{Name: Containerd, Path: "containerd", Args: []string{"--config", i.Path("containerd.toml")}}
}

// ForwarderSpec runs this program as the way from Pods to the API server: there is no kube-proxy, so the address of
// the Service "kubernetes" is one of the bridge, where the forwarder listens.
func ForwarderSpec(i instance.Instance, driver string) process.Spec {
	return process.Spec{Name: Forwarder, Path: driver, Args: []string{
		"forward", "--listen", i.ServiceIP().String() + ":443", "--to", i.APIAddress(),
	}}
}

// KubeletSpec runs the kubelet.
func KubeletSpec(i instance.Instance) process.Spec {
	return process.Spec{Name: Kubelet, Path: i.Kube, Args: []string{
		"kubelet", "--config=" + i.Path("kubelet.yaml"), "--kubeconfig=" + i.Kubeconfig(credentials.Kubelet),
		"--root-dir=" + i.Path("kubelet"), "--cert-dir=" + i.Path("kubelet", "pki"),
		"--hostname-override=" + instance.NodeName, "--node-ip=" + i.NodeIP().String(),
	}}
}

// writeConfig writes the configuration files of all components into the home.
func writeConfig(i instance.Instance, snapshotter string) error {
	files := map[string]func(instance.Instance) ([]byte, error){
		"containerd.toml":                    fromTemplate("containerd.toml", snapshotter),
		"registry.yaml":                      fromTemplate("registry.yaml", ""),
		"certs.d/_default/hosts.toml":        hosts,
		"cni/10-" + i.Bridge() + ".conflist": network,
		"kubelet.yaml":                       kubelet,
	}
	for name, render := range files {
		data, err := render(i)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		path := i.Path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func fromTemplate(name, snapshotter string) func(instance.Instance) ([]byte, error) {
	return func(i instance.Instance) ([]byte, error) {
		t, err := template.New(name).Option("missingkey=error").ParseFS(templates, name)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = t.Execute(&out, map[string]string{
			"Home": i.Home, "Socket": Socket(i), "Pause": PauseImage, "Plugins": pluginFolder,
			"Registry": i.RegistryAddress(), "Snapshotter": snapshotter,
		})
		return out.Bytes(), err
	}
}

// hosts sends the pulls of every registry name to the local one, and nowhere else: a miss is known at once.
func hosts(i instance.Instance) ([]byte, error) {
	return fmt.Appendf(nil, "server = %q\n[host.%[1]q]\n  capabilities = [\"pull\", \"resolve\"]\n", "http://"+i.RegistryAddress()), nil
}

// network puts Pods on the bridge. The plugin is not asked to make the bridge a gateway, for then it would switch on
// forwarding for the whole machine; nothing here needs to be forwarded.
func network(i instance.Instance) ([]byte, error) {
	type object = map[string]any
	return json.MarshalIndent(object{
		"cniVersion": "0.4.0",
		"name":       i.NetworkName(),
		"plugins": []object{{
			"type": "bridge", "bridge": i.Bridge(), "isGateway": false, "ipMasq": false,
			"ipam": object{
				"type": "host-local", "dataDir": i.Path("cni-addresses"),
				"ranges": [][]object{{{"subnet": i.PodNetwork().String(), "gateway": i.NodeIP().String()}}},
				"routes": []object{{"dst": "0.0.0.0/0"}},
			},
		}},
	}, "", "  ")
}

func kubelet(i instance.Instance) ([]byte, error) {
	type object = map[string]any
	return yaml.Marshal(object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1",
		"kind":       "KubeletConfiguration",
		"address":    i.NodeIP().String(), "port": 10250, "healthzPort": 0, "readOnlyPort": 0,
		"containerRuntimeEndpoint": "unix://" + Socket(i),
		"authentication": object{
			"anonymous": object{"enabled": false},
			"webhook":   object{"enabled": true},
			"x509":      object{"clientCAFile": i.Path("pki", "ca.crt")},
		},
		"authorization":     object{"mode": "Webhook"},
		"tlsCertFile":       i.Path("pki", credentials.Kubelet+".crt"),
		"tlsPrivateKeyFile": i.Path("pki", credentials.Kubelet+".key"),

		"cgroupDriver": "cgroupfs", "cgroupRoot": "/" + i.CgroupRoot(), "cgroupsPerQOS": true,
		"enforceNodeAllocatable": []string{}, // else the kubelet limits control groups of the machine
		"failCgroupV1":           false, "failSwapOn": false,
		"makeIPTablesUtilChains": false, // the machine's packet filter is none of our business
		"clusterDNS":             []string{i.ServiceNetwork().Addr().Next().Next().String()},
		"resolvConf":             "/etc/resolv.conf",

		"maxPods": 200, "kubeAPIQPS": 100, "kubeAPIBurst": 200, "eventRecordQPS": 0, "registryPullQPS": 0,
		// else an image that was put on the node is refused once the same content was pulled under another name
		"imagePullCredentialsVerificationPolicy": "NeverVerify",
		"imageGCHighThresholdPercent":            100,
		"evictionHard": object{ // a full machine is not what is tried here
			"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%",
		},
		"podLogsDir": i.Path("pod-logs"), "volumePluginDir": i.Path("kubelet", "volume-plugins"),
	})
}
