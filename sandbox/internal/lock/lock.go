// Package lock lets one caller at a time work on a folder.
//
// The lock is on the folder itself and ends with the process that holds it, so nothing is left behind to clean up.
package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Take waits for the lock on a folder, and calls waiting once if it is held. The folder may be removed by the holder;
// who waited for it then gets the one that stands there now.
func Take(ctx context.Context, folder string, waiting func()) (release func(), err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for first := true; ; {
		file, err := try(folder)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", folder, err)
		}
		if first {
			waiting()
			first = false
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func try(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	held, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if now, err := os.Stat(folder); err != nil || !os.SameFile(held, now) {
		return nil, errors.Join(syscall.EWOULDBLOCK, file.Close())
	}
	return file, nil
}
