// Package instance says where one sandbox lives and which names, addresses and ports belong to it.
//
// It owns instance.json. It starts nothing and asks the machine only through Machine. Two instances never share a
// bridge, a network, a control group or a port: all of them follow from the slot (TestSlotsAreDisjoint).
package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
)

// NodeName is the name of the one node, whichever runtime it has.
const NodeName = "node-1"

// Slots is how many sandboxes fit on one machine.
const Slots = 12

// maxHome keeps the sockets below the home within the 108 bytes that the kernel has for their path. The longest is
// kubelet/device-plugins/kubelet.sock with some room.
const maxHome = 64

// Runtime is what stands behind the node.
type Runtime string

// The runtimes; the zero value is not chosen yet.
const (
	Auto       Runtime = "auto"
	Containerd Runtime = "containerd" // real containers; needs root on Linux
	Kwok       Runtime = "kwok"       // simulated Pods; runs anywhere
)

// Instance is one sandbox.
type Instance struct {
	Home     string            `json:"-"`
	Runtime  Runtime           `json:"runtime"`
	Slot     int               `json:"slot"`
	Kube     string            `json:"kube"`               // the binary that the components run from
	Kwok     string            `json:"kwok,omitempty"`     // the folder with kwok and its stages
	Settings map[string]string `json:"settings,omitempty"` // kernel settings before the kubelet changed them
}

// ErrNone says that there is no sandbox in a home.
var ErrNone = errors.New("there is no sandbox here: start one with `sandbox up`")

// Load reads the instance of a home, or returns ErrNone.
func Load(home string) (Instance, error) {
	i := Instance{Home: home}
	data, err := os.ReadFile(i.Path("instance.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return i, ErrNone
	}
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(data, &i); err != nil {
		return i, fmt.Errorf("%s: %w; `sandbox down` removes it", i.Path("instance.json"), err)
	}
	return i, nil
}

// Save writes the instance to its home.
func (i Instance) Save() error {
	data, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	fresh := i.Path("instance.json.new")
	if err := os.WriteFile(fresh, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, i.Path("instance.json"))
}

// CheckHome refuses a home whose sockets would not fit.
func CheckHome(home string) error {
	if !filepath.IsAbs(home) {
		return fmt.Errorf("the sandbox's home %q is not an absolute path", home)
	}
	if len(home) > maxHome {
		return fmt.Errorf("the sandbox's home %s has %d characters, its sockets allow %d: set SANDBOX_HOME to a shorter path",
			home, len(home), maxHome)
	}
	return nil
}

// Path joins elements below the home.
func (i Instance) Path(elements ...string) string {
	return filepath.Join(append([]string{i.Home}, elements...)...)
}

// Kubeconfig is the path of a user's kubeconfig.
func (i Instance) Kubeconfig(user string) string { return i.Path("kubeconfig", user+".yaml") }

// Bridge is the link that the Pods hang on.
func (i Instance) Bridge() string { return "sbx" + strconv.Itoa(i.Slot) }

// NetworkName and CgroupRoot name what the container runtime leaves outside the home.
func (i Instance) NetworkName() string { return "kubectl-work-" + i.Bridge() }

// CgroupRoot is the control group above all Pods, below each hierarchy's root.
func (i Instance) CgroupRoot() string { return "kubectl-work-" + i.Bridge() }

// PodNetwork holds the node and its Pods.
func (i Instance) PodNetwork() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(244 + i.Slot), 0, 0}), 16)
}

// ServiceNetwork holds the addresses of Services.
func (i Instance) ServiceNetwork() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(96 + i.Slot), 0, 0}), 16)
}

// NodeIP is the node's address, on the bridge.
func (i Instance) NodeIP() netip.Addr { return i.PodNetwork().Addr().Next() }

// ServiceIP is the address of the Service "kubernetes", where Pods look for the API server.
func (i Instance) ServiceIP() netip.Addr { return i.ServiceNetwork().Addr().Next() }

// APIAddress is where the API server listens.
func (i Instance) APIAddress() string { return i.loopback(16443) }

// RegistryAddress is where the image registry listens.
func (i Instance) RegistryAddress() string { return i.loopback(16444) }

// KwokPort is where the simulated kubelet listens, on loopback.
func (i Instance) KwokPort() int { return 16445 + portStep*i.Slot }

const portStep = 10

func (i Instance) loopback(port int) string {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port+portStep*i.Slot)).String()
}

// APIServer is the URL of the API server.
func (i Instance) APIServer() string { return "https://" + i.APIAddress() }
