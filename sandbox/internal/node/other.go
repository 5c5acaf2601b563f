//go:build !linux

package node

import (
	"context"
	"errors"
	"net/netip"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// Supported tells whether real nodes can run on this system.
const Supported = false

var errUnsupported = errors.New("a real node needs Linux: use --runtime=kwok")

// Machine answers what of the machine is taken.
type Machine struct{}

// AddressFree implements instance.Machine.
func (Machine) AddressFree(address string) bool { return instance.CanListen(address) }

// LinkFree implements instance.Machine.
func (Machine) LinkFree(string, ...netip.Prefix) (bool, error) { return false, errUnsupported }

// Prepare fails.
func Prepare(instance.Instance) error { return errUnsupported }

// Clean has nothing to take away.
func Clean(context.Context, instance.Instance) error { return nil }

// ReadSettings fails.
func ReadSettings() (map[string]string, error) { return nil, errUnsupported }

// RestoreSettings has nothing to give back.
func RestoreSettings(map[string]string) error { return nil }
