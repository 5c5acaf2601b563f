package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

func configured(t *testing.T) instance.Instance {
	t.Helper()
	i := instance.Instance{Home: t.TempDir(), Runtime: instance.Containerd, Slot: 1, Kube: "/kube"}
	if err := writeConfig(i, "native"); err != nil {
		t.Fatal(err)
	}
	return i
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestConfigNamesOnlyWhatIsOurs(t *testing.T) {
	i := configured(t)
	for file, wants := range map[string][]string{
		"containerd.toml": {
			`root = "` + i.Home + `/containerd/root"`, `address = "` + i.Home + `/containerd.sock"`, `Root = "` + i.Home + `/containerd/runc"`,
			`snapshotter = "native"`, `sandbox_image = "sandbox.local/pause:1"`,
		},
		"registry.yaml":               {"rootdirectory: " + i.Home + "/registry", "addr: 127.0.0.1:16454"},
		"certs.d/_default/hosts.toml": {`server = "http://127.0.0.1:16454"`},
	} {
		got := read(t, i.Path(file))
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s:\n%s", file, want, got)
			}
		}
	}
	err := filepath.WalkDir(i.Home, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(read(t, path), "<no value>") {
			t.Errorf("%s has a hole", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKubeletListensOnTheBridgeAlone(t *testing.T) {
	var got struct {
		Address, CgroupRoot       string
		HealthzPort, ReadOnlyPort *int
		Authentication            struct{ Anonymous struct{ Enabled *bool } }
	}
	if err := yaml.Unmarshal([]byte(read(t, configured(t).Path("kubelet.yaml"))), &got); err != nil {
		t.Fatal(err)
	}
	if got.Address != "10.245.0.1" || got.CgroupRoot != "/kubectl-work-sbx1" {
		t.Errorf("address %s, control group %s", got.Address, got.CgroupRoot)
	}
	for name, port := range map[string]*int{"healthz": got.HealthzPort, "read-only": got.ReadOnlyPort} {
		if port == nil || *port != 0 {
			t.Errorf("the %s port is open", name)
		}
	}
	if anonymous := got.Authentication.Anonymous.Enabled; anonymous == nil || *anonymous {
		t.Error("anonymous calls are let in")
	}
}

func TestNetworkForwardsNothing(t *testing.T) {
	i := configured(t)
	var got struct {
		Name    string
		Plugins []struct {
			Bridge            string
			IsGateway, IPMasq *bool
		}
	}
	if err := json.Unmarshal([]byte(read(t, i.Path("cni", "10-sbx1.conflist"))), &got); err != nil {
		t.Fatal(err)
	}
	plugin := got.Plugins[0]
	if got.Name != "kubectl-work-sbx1" || plugin.Bridge != "sbx1" || plugin.IsGateway == nil || *plugin.IsGateway || *plugin.IPMasq {
		t.Errorf("%+v", got)
	}
}
