package instance

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Machine answers what is taken already.
type Machine interface {
	// AddressFree tells whether a port on loopback can be listened on.
	AddressFree(address string) bool
	// LinkFree tells whether no link has the name and no address or route of the machine touches the networks.
	LinkFree(name string, networks ...netip.Prefix) (bool, error)
}

// Allocate returns an instance in the first slot that the machine has room for.
func Allocate(home string, runtime Runtime, machine Machine) (Instance, error) {
	for slot := range Slots {
		i := Instance{Home: home, Runtime: runtime, Slot: slot}
		free, err := i.fits(machine)
		if err != nil {
			return Instance{}, err
		}
		if free {
			return i, nil
		}
	}
	return Instance{}, fmt.Errorf("no room for another sandbox: each of %d slots has its port (16443, 16453, …), "+
		"its bridge (sbx0, sbx1, …) or its network (10.244.0.0/16, 10.245.0.0/16, …) taken", Slots)
}

func (i Instance) fits(machine Machine) (bool, error) {
	for _, address := range i.addresses() {
		if !machine.AddressFree(address) {
			return false, nil
		}
	}
	if i.Runtime != Containerd {
		return true, nil
	}
	return machine.LinkFree(i.Bridge(), i.PodNetwork(), i.ServiceNetwork())
}

func (i Instance) addresses() []string {
	if i.Runtime == Containerd {
		return []string{i.APIAddress(), i.RegistryAddress()}
	}
	return []string{i.APIAddress(), net.JoinHostPort("127.0.0.1", strconv.Itoa(i.KwokPort()))}
}

// Taken returns the first address of the instance that another program listens on, or nothing.
func (i Instance) Taken(machine Machine) string {
	for _, address := range i.addresses() {
		if !machine.AddressFree(address) {
			return address
		}
	}
	return ""
}

// CanListen tells whether an address can be listened on now.
func CanListen(address string) bool {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	return l.Close() == nil
}
