package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// killWait bounds how long a killed process may take to go away.
const killWait = 10 * time.Second

// Stop asks components to end, kills those that still run after the grace, and forgets them. A grace of zero kills
// at once. Components that do not run are only forgotten.
func (s Store) Stop(ctx context.Context, grace time.Duration, names ...string) error {
	if grace > 0 {
		s.signal(names, syscall.SIGTERM)
		if err := s.waitGone(ctx, grace, names); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	s.signal(names, syscall.SIGKILL)
	if err := s.waitGone(ctx, killWait, names); err != nil {
		return fmt.Errorf("%s still run %s after being killed: %w", strings.Join(names, ", "), killWait, err)
	}
	var errs []error
	for _, name := range names {
		if err := os.Remove(s.recordPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// signal reaches only processes whose record still holds. The handle is taken before the check, so that the number
// cannot change hands in between where the system has process handles.
func (s Store) signal(names []string, sig syscall.Signal) {
	for _, name := range names {
		r, err := s.read(name)
		if err != nil {
			continue
		}
		process, err := os.FindProcess(r.Pid)
		if err != nil {
			continue
		}
		if r.alive() {
			_ = process.Signal(sig) // gone meanwhile is what we want
		}
		_ = process.Release()
	}
}

func (s Store) waitGone(ctx context.Context, limit time.Duration, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left := false
		for _, name := range names {
			_, running := s.Pid(name)
			left = left || running
		}
		if !left {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// DiedError says that a component ended by itself, with what it said last.
type DiedError struct {
	Name string
	Log  string
	Tail []string
}

func (e *DiedError) Error() string {
	return fmt.Sprintf("%s ended; its last lines:\n  %s\nthe whole log: %s", e.Name, strings.Join(e.Tail, "\n  "), e.Log)
}

// Dead returns a *DiedError for the first of the named components that was started and runs no longer.
func (s Store) Dead(names ...string) error {
	for _, name := range names {
		if _, running := s.Pid(name); s.Started(name) && !running {
			return &DiedError{Name: name, Log: s.Log(name), Tail: s.Tail(name, 8)}
		}
	}
	return nil
}

// Tail returns the last lines of a component's log, as far as it can be read.
func (s Store) Tail(name string, lines int) []string {
	data, err := os.ReadFile(s.Log(name))
	if err != nil {
		return []string{err.Error()}
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return all[max(0, len(all)-lines):]
}
