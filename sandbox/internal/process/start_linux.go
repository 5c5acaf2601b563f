package process

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// startTime reads when a process started, in clock ticks since boot, and whether it has ended and only waits for
// its parent. The command name in the file may hold spaces and brackets: fields count from the last bracket.
func startTime(pid int) (start uint64, zombie bool, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const state, threads, starttime = 0, 17, 19 // proc(5) counts from 1 and has the number and the name before these
	if len(fields) <= starttime {
		return 0, false, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	start, err = strconv.ParseUint(fields[starttime], 10, 64)
	// While other threads of it still end, they hold its files and ports.
	ended := fields[state] == "Z" && fields[threads] == "1"
	return start, ended || fields[state] == "X", err
}

func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}

// sealFiles keeps from the components what this program inherited open: a lock or a pipe of our caller would be held
// for as long as they run.
func sealFiles() error {
	const first = 3 // after stdin, stdout and stderr
	return unix.CloseRange(first, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}
