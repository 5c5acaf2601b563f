package node

import (
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// need is a program that a node needs and the Debian package that brings it.
type need struct{ path, pkg string }

var needs = []need{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"docker-registry", "docker-registry"},
	{pluginFolder + "/bridge", "containernetworking-plugins"},
	{pluginFolder + "/host-local", "containernetworking-plugins"},
	{Busybox, "busybox-static"},
	{"mount", "mount"},
}

// Busybox is the program that images are made of.
const Busybox = "/bin/busybox"

// refuseServices tells Debian's packages not to start their services: the sandbox starts its own, below its home.
const refuseServices = "/usr/sbin/policy-rc.d"

// InstallPackages installs the Debian packages that are missing, after saying so.
func InstallPackages(ctx context.Context, say io.Writer) error {
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("a real node needs what Debian calls %s: install it, or use --runtime=kwok", list)
	}
	fmt.Fprintf(say, "Installing Debian packages for the node: %s\n", list)
	if _, err := os.Stat(refuseServices); os.IsNotExist(err) {
		if err := os.WriteFile(refuseServices, []byte("#!/bin/sh\nexit 101\n"), 0o755); err != nil {
			return err
		}
		defer func() { _ = os.Remove(refuseServices) }()
	}
	install := append([]string{"install", "--yes", "--no-install-recommends"}, missing...)
	if output, err := aptGet(ctx, install...); err != nil {
		if updated, err := aptGet(ctx, "update"); err != nil {
			return fmt.Errorf("apt-get install %s: %w\n%s%s", list, err, output, updated)
		}
		if output, err = aptGet(ctx, install...); err != nil {
			return fmt.Errorf("apt-get install %s: %w\n%s", list, err, output)
		}
	}
	if still := missingPackages(); len(still) > 0 {
		return fmt.Errorf("after installing %s there is still nothing from %s; look at the packages by hand", list, strings.Join(still, ", "))
	}
	return nil
}

func aptGet(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	output, err := cmd.CombinedOutput()
	return string(output), err
}

func missingPackages() []string {
	var missing []string
	for _, n := range needs {
		_, err := exec.LookPath(n.path)
		if err == nil && n.path == Busybox {
			err = checkStatic(Busybox)
		}
		if err != nil && !slices.Contains(missing, n.pkg) {
			missing = append(missing, n.pkg)
		}
	}
	return missing
}

// checkStatic refuses a program that needs a loader and libraries: images hold nothing but it.
func checkStatic(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is not linked statically", path)
		}
	}
	return nil
}
