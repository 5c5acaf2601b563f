package node

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// mount is one line of the kernel's list of mounts.
type mount struct{ path, kind string }

func readMounts() ([]mount, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(string(data))
}

// parseMounts reads proc_pid_mountinfo(5): the path is the fifth field, the kind follows a lone dash.
func parseMounts(text string) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 5 || dash+1 >= len(fields) {
			return nil, fmt.Errorf("mountinfo: cannot read %q", line)
		}
		mounts = append(mounts, mount{path: unescape(fields[4]), kind: fields[dash+1]})
	}
	return mounts, nil
}

// unescape turns \040 and its like back into the character they stand for.
func unescape(path string) string {
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(code))
				i += 3
				continue
			}
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

// unmountAll unmounts everything below the home, the youngest first.
func unmountAll(i instance.Instance) error {
	mounts, err := readMounts()
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range slices.Backward(mounts) {
		if !strings.HasPrefix(m.path, i.Home+"/") {
			continue
		}
		if err := unix.Unmount(m.path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			errs = append(errs, fmt.Errorf("unmount %s: %w", m.path, err))
		}
	}
	return errors.Join(errs...)
}
