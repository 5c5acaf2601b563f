package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// wideRoute is the length below which a route is taken for "everything over there" (a default route, a company's
// 10.0.0.0/8) rather than for a network that is really in use at our addresses.
const wideRoute = 12

// Machine answers what of the real machine is taken.
type Machine struct{}

// AddressFree implements instance.Machine.
func (Machine) AddressFree(address string) bool { return instance.CanListen(address) }

// LinkFree implements instance.Machine.
func (Machine) LinkFree(name string, networks ...netip.Prefix) (bool, error) {
	if _, err := netlink.LinkByName(name); err == nil {
		return false, nil
	}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return false, fmt.Errorf("list routes: %w", err)
	}
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return false, fmt.Errorf("list addresses: %w", err)
	}
	var taken []netip.Prefix
	for _, route := range routes {
		if p, ok := prefix(route.Dst); ok && p.Bits() >= wideRoute {
			taken = append(taken, p)
		}
	}
	for _, address := range addresses {
		if p, ok := prefix(address.IPNet); ok {
			taken = append(taken, netip.PrefixFrom(p.Addr(), p.Addr().BitLen()))
		}
	}
	for _, theirs := range taken {
		for _, ours := range networks {
			if ours.Overlaps(theirs) {
				return false, nil
			}
		}
	}
	return true, nil
}

func prefix(n *net.IPNet) (netip.Prefix, bool) {
	if n == nil {
		return netip.Prefix{}, false
	}
	address, ok := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(address.Unmap(), bits), ok
}

// makeBridge makes the bridge with the addresses of the node and of the Service "kubernetes".
func makeBridge(i instance.Instance) error {
	if _, err := netlink.LinkByName(i.Bridge()); err == nil {
		return nil
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = i.Bridge()
	// A bridge without an address of its own changes it with each Pod that comes and goes.
	attributes.HardwareAddr = make(net.HardwareAddr, 6)
	if _, err := rand.Read(attributes.HardwareAddr); err != nil {
		return err
	}
	attributes.HardwareAddr[0] = attributes.HardwareAddr[0]&^1 | 2 // unicast, locally administered
	bridge := &netlink.Bridge{LinkAttrs: attributes}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("add the bridge %s: %w", i.Bridge(), err)
	}
	for _, address := range []netip.Prefix{
		netip.PrefixFrom(i.NodeIP(), i.PodNetwork().Bits()), netip.PrefixFrom(i.ServiceIP(), i.ServiceIP().BitLen()),
	} {
		parsed, err := netlink.ParseAddr(address.String())
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(bridge, parsed); err != nil {
			return fmt.Errorf("add %s to %s: %w", address, i.Bridge(), err)
		}
	}
	return netlink.LinkSetUp(bridge)
}

// removeLinks deletes the bridge and the ends of Pods' links that hang on it.
func removeLinks(i instance.Instance) error {
	bridge, err := netlink.LinkByName(i.Bridge())
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err != nil {
		return err
	}
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list links: %w", err)
	}
	for _, link := range links {
		if link.Type() == "veth" && link.Attrs().MasterIndex == bridge.Attrs().Index {
			_ = netlink.LinkDel(link) // it goes by itself once its Pod's namespace is gone
		}
	}
	if err := netlink.LinkDel(bridge); err != nil {
		return fmt.Errorf("delete the bridge %s: %w", i.Bridge(), err)
	}
	return nil
}

// othersRun tells whether another sandbox has its bridge on this machine.
func othersRun() (bool, error) {
	for slot := range instance.Slots {
		_, err := netlink.LinkByName(instance.Instance{Slot: slot}.Bridge())
		if err == nil {
			return true, nil
		}
		if !errors.As(err, &netlink.LinkNotFoundError{}) {
			return false, err
		}
	}
	return false, nil
}
