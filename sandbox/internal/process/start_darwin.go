package process

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const zombieState = 5 // SZOMB of sys/proc.h

func startTime(pid int) (start uint64, zombie bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false, err
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec), info.Proc.P_stat == zombieState, nil
}

func bootID() (string, error) {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(at.Sec, 10), nil
}

// sealFiles keeps from the components what this program inherited open: a lock or a pipe of our caller would be held
// for as long as they run.
func sealFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	const first, most = 3, 4096
	for fd := first; fd < int(min(limit.Cur, most)); fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
