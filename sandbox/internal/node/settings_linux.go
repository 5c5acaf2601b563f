package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// changed are the kernel settings that the kubelet writes when it starts.
var changed = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// ReadSettings returns the kernel settings that starting a node will change.
func ReadSettings() (map[string]string, error) {
	settings := map[string]string{}
	for _, name := range changed {
		data, err := os.ReadFile(filepath.Join("/proc/sys", name))
		if err != nil {
			return nil, err
		}
		settings[name] = strings.TrimSpace(string(data))
	}
	return settings, nil
}

// RestoreSettings gives the kernel settings back.
func RestoreSettings(settings map[string]string) error {
	var errs []error
	for name, value := range settings {
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0o644); err != nil {
			errs = append(errs, fmt.Errorf("give back %s=%s: %w", name, value, err))
		}
	}
	return errors.Join(errs...)
}
