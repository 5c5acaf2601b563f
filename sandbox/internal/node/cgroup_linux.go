package node

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// hierarchies lists where control groups are mounted: one place on a machine with version 2 only, else one a
// controller and perhaps version 2 beside them.
func hierarchies() ([]mount, error) {
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(mounts, func(m mount) bool {
		return (m.kind != "cgroup" && m.kind != "cgroup2") || !strings.HasPrefix(m.path, "/sys/fs/cgroup")
	}), nil
}

// makeCgroups makes the control group above all Pods. The kubelet wants it to exist in every hierarchy.
func makeCgroups(i instance.Instance) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range all {
		own := filepath.Join(hierarchy.path, i.CgroupRoot())
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		if hierarchy.kind == "cgroup2" {
			err = delegate(hierarchy.path, own)
		} else {
			err = inheritCPUs(hierarchy.path, own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// delegate hands all controllers down (version 2: a group offers its children only what it is told to).
func delegate(levels ...string) error {
	for _, level := range levels {
		data, err := os.ReadFile(filepath.Join(level, "cgroup.controllers"))
		if err != nil {
			return err
		}
		for controller := range strings.FieldsSeq(string(data)) {
			// One by one, for one that cannot be handed down must not keep back the others.
			_ = os.WriteFile(filepath.Join(level, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
		}
	}
	return nil
}

// inheritCPUs fills in what a new group of version 1 leaves empty and what no process may join without.
func inheritCPUs(parent, own string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		data, err := os.ReadFile(filepath.Join(parent, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another controller's hierarchy
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(own, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeCgroups removes the control groups of all Pods. The kernel lets go of a group a moment after its last process.
func removeCgroups(ctx context.Context, i instance.Instance) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range all {
		own := filepath.Join(hierarchy.path, i.CgroupRoot())
		if err := retry(ctx, 5*time.Second, func() error { return removeTree(own) }); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes folders from the deepest up; their files are the kernel's and go with them.
func removeTree(root string) error {
	var folders []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, folder := range slices.Backward(folders) {
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func retry(ctx context.Context, limit time.Duration, attempt func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}
