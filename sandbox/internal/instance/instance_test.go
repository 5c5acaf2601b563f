package instance

import (
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type machine struct {
	ports    map[string]bool
	links    map[string]bool
	networks []netip.Prefix
}

func (m machine) AddressFree(address string) bool { return !m.ports[address] }

func (m machine) LinkFree(name string, networks ...netip.Prefix) (bool, error) {
	for _, mine := range m.networks {
		if slices.ContainsFunc(networks, mine.Overlaps) {
			return false, nil
		}
	}
	return !m.links[name], nil
}

func TestAllocate(t *testing.T) {
	for name, test := range map[string]struct {
		machine machine
		runtime Runtime
		slot    int
	}{
		"empty machine":           {machine{}, Containerd, 0},
		"API port taken":          {machine{ports: map[string]bool{"127.0.0.1:16443": true}}, Containerd, 1},
		"registry port taken":     {machine{ports: map[string]bool{"127.0.0.1:16444": true}}, Containerd, 1},
		"no registry without":     {machine{ports: map[string]bool{"127.0.0.1:16444": true}}, Kwok, 0},
		"bridge taken":            {machine{links: map[string]bool{"sbx0": true, "sbx1": true}}, Containerd, 2},
		"bridge is no matter":     {machine{links: map[string]bool{"sbx0": true}}, Kwok, 0},
		"route into Pod network":  {machine{networks: []netip.Prefix{netip.MustParsePrefix("10.244.3.0/24")}}, Containerd, 1},
		"a wide route over twice": {machine{networks: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/15")}}, Containerd, 2},
	} {
		got, err := Allocate("/h", test.runtime, test.machine)
		if err != nil || got.Slot != test.slot || got.Runtime != test.runtime {
			t.Errorf("%s: got slot %d, %v; want %d", name, got.Slot, err, test.slot)
		}
	}
	full := machine{networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	if _, err := Allocate("/h", Containerd, full); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("full machine: %v", err)
	}
}

func TestSlotsAreDisjoint(t *testing.T) {
	owner := map[string]int{}
	var networks []netip.Prefix
	for slot := range Slots {
		i := Instance{Slot: slot}
		for _, name := range []string{i.Bridge(), i.CgroupRoot() + "/", i.APIAddress(), i.RegistryAddress(), i.Kubeconfig("") + i.Bridge()} {
			if other, taken := owner[name]; taken {
				t.Errorf("slots %d and %d share %s", other, slot, name)
			}
			owner[name] = slot
		}
		for _, mine := range []netip.Prefix{i.PodNetwork(), i.ServiceNetwork()} {
			for _, other := range networks {
				if mine.Overlaps(other) {
					t.Errorf("slot %d: %s overlaps %s", slot, mine, other)
				}
			}
			networks = append(networks, mine)
		}
		if !i.PodNetwork().Contains(i.NodeIP()) || !i.ServiceNetwork().Contains(i.ServiceIP()) {
			t.Errorf("slot %d: addresses outside their networks", slot)
		}
	}
	last := Instance{Slot: Slots - 1}
	if got := last.PodNetwork().String(); got != "10.255.0.0/16" {
		t.Errorf("last Pod network is %s", got)
	}
}

func TestSaveLoad(t *testing.T) {
	home := t.TempDir()
	if _, err := Load(home); !errors.Is(err, ErrNone) {
		t.Errorf("empty home: %v", err)
	}
	want := Instance{Home: home, Runtime: Kwok, Slot: 3, Kube: "/k", Settings: map[string]string{"vm/x": "1"}}
	if err := want.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := Load(home)
	if err != nil || got.Slot != 3 || got.Runtime != Kwok || got.Kube != "/k" || got.Home != home || got.Settings["vm/x"] != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCheckHome(t *testing.T) {
	if err := CheckHome("/root/.cache/kubectl-work/sandbox/run"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"run", filepath.Join("/", strings.Repeat("x", maxHome))} {
		if CheckHome(bad) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
