package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// Clean takes away what a node left on the machine outside its home: processes, mounts, links, control groups and
// files. The components that the driver started must have been stopped. It works on a node that was never complete.
func Clean(ctx context.Context, i instance.Instance) error {
	if err := retry(ctx, 10*time.Second, func() error { return killPods(i) }); err != nil {
		return err
	}
	sockets, err := shimSockets(i)
	if err != nil {
		return err
	}
	err = errors.Join(
		unmountAll(i), removeLinks(i), removeCgroups(ctx, i), removeFiles(sockets), removeDeviceSocket(ctx),
		removeNetworkResults(i), removeLogLinks(i),
	)
	if shared, sharedErr := othersRun(); shared || sharedErr != nil {
		return errors.Join(err, sharedErr)
	}
	return errors.Join(err, removeEmpty("/var/lib/kubelet/device-plugins", "/var/lib/kubelet", "/run/mount",
		"/var/lib/cni/results", "/var/lib/cni", "/var/log/containers", "/run/containerd/s", "/run/containerd"))
}

// killPods kills what runs in the instance's control groups and the shims that stand between it and containerd. It
// returns an error as long as it found something to kill.
func killPods(i instance.Instance) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	var killed []string
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		process, err := os.FindProcess(pid) // a handle first, so that the number cannot change hands
		if err != nil {
			continue
		}
		if belongs(pid, i) && process.Signal(unix.SIGKILL) == nil {
			killed = append(killed, entry.Name())
		}
		_ = process.Release()
	}
	if len(killed) > 0 {
		return fmt.Errorf("processes of Pods that do not end: %s", strings.Join(killed, ", "))
	}
	return nil
}

// belongs tells whether a process is one of a Pod of the instance, or a helper of its containerd. A zombie is not.
func belongs(pid int, i instance.Instance) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return false
	}
	if _, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " "); strings.HasPrefix(rest, "Z") {
		return false
	}
	groups, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(groups)) {
		if _, path, ok := strings.Cut(strings.TrimSpace(line), ":/"+i.CgroupRoot()); ok && (path == "" || path[0] == '/') {
			return true
		}
	}
	command, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return false
	}
	return isHelper(strings.Split(string(command), "\x00"), i)
}

// isHelper recognises shims and runc by their name together with a path below the instance's home.
func isHelper(command []string, i instance.Instance) bool {
	switch filepath.Base(command[0]) {
	case "containerd-shim-runc-v2", "runc":
	default:
		return false
	}
	for _, argument := range command[1:] {
		if strings.HasPrefix(argument, i.Home+"/") {
			return true
		}
	}
	return false
}

// shimSockets lists the sockets that shims made in a folder which all containerds of a machine share.
func shimSockets(i instance.Instance) ([]string, error) {
	files, err := filepath.Glob(i.Path("containerd", "state", "io.containerd.runtime.v2.task", "*", "*", "address"))
	if err != nil {
		return nil, err
	}
	var sockets []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // a container that was never started
		}
		if path, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "unix://"); ok {
			sockets = append(sockets, path)
		}
	}
	return sockets, nil
}

// removeDeviceSocket removes the one file that a kubelet has outside its folders, unless another kubelet answers there.
func removeDeviceSocket(ctx context.Context) error {
	const socket = "/var/lib/kubelet/device-plugins/kubelet.sock"
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err == nil {
		return conn.Close()
	}
	if errors.Is(err, unix.ECONNREFUSED) {
		return removeFiles([]string{socket})
	}
	return nil
}

func removeFiles(paths []string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// removeNetworkResults removes what the network library remembers of Pods. What it remembers of a Pod's loopback
// carries no name of ours, only the Pod's.
func removeNetworkResults(i instance.Instance) error {
	const results = "/var/lib/cni/results/"
	paths, err := filepath.Glob(results + i.NetworkName() + "-*")
	if err != nil {
		return err
	}
	for _, path := range paths {
		pod := strings.TrimSuffix(strings.TrimPrefix(path, results+i.NetworkName()+"-"), "-eth0")
		paths = append(paths, results+"cni-loopback-"+pod+"-lo")
	}
	return removeFiles(paths)
}

// removeLogLinks removes the links to logs below the home that the kubelet puts into a folder of the machine.
func removeLogLinks(i instance.Instance) error {
	links, err := filepath.Glob("/var/log/containers/*")
	if err != nil {
		return err
	}
	return removeFiles(slices.DeleteFunc(links, func(link string) bool {
		target, err := os.Readlink(link)
		return err != nil || !strings.HasPrefix(target, i.Home+"/")
	}))
}

// removeEmpty removes the folders that all containerds and kubelets of a machine share, if nothing is in them.
func removeEmpty(folders ...string) error {
	for _, folder := range folders {
		if err := unix.Rmdir(folder); err != nil &&
			!errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("remove %s: %w", folder, err)
		}
	}
	return nil
}
