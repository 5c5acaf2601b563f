package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// snapshotter is how containerd keeps the file systems of containers below the home: as layers over each other where
// the home's own file system allows that (one that is itself such layers does not), else as copies.
func snapshotter(i instance.Instance) (string, error) {
	trial, err := os.MkdirTemp(i.Home, "overlay-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(trial) }()
	at := func(name string) string { return filepath.Join(trial, name) }
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			return "", err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", at("lower"), at("upper"), at("work"))
	err = unix.Mount("overlay", at("merged"), "overlay", 0, options)
	if err == nil {
		return "overlayfs", unix.Unmount(at("merged"), unix.MNT_DETACH)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EPERM) {
		return "native", nil
	}
	return "", fmt.Errorf("try an overlay mount below %s: %w", i.Home, err)
}
