// Package process starts the sandbox's components so that they outlive the driver, and ends them again.
//
// It owns the folders run (one record a component) and log (one file a component) of a sandbox. It never signals a
// process by name or by a bare number: a record holds the start time and the boot it belongs to, so a number that
// the kernel has given to somebody else since is left alone (TestReusedPidIsNotOurs).
package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Spec is what to run as a component.
type Spec struct {
	Name string
	Path string
	Args []string
	Dir  string // working directory; the store's home when empty
}

// Store knows the components that were started for one sandbox.
type Store struct {
	Home string
	Env  []string // environment of every component
}

// record is the content of run/NAME.json: it names one process of one boot for good.
type record struct {
	Pid   int    `json:"pid"`
	Start uint64 `json:"start"` // as the kernel counts it; compared, never computed with
	Boot  string `json:"boot"`
}

// Log returns the path of a component's log.
func (s Store) Log(name string) string { return filepath.Join(s.Home, "log", name+".log") }

func (s Store) recordPath(name string) string { return filepath.Join(s.Home, "run", name+".json") }

// Start runs a component in a session of its own, its output in its log. The log of the run before is kept as
// NAME.log.old. A component that already runs is left as it is.
func (s Store) Start(spec Spec) error {
	if _, running := s.Pid(spec.Name); running {
		return nil
	}
	for _, dir := range []string{filepath.Dir(s.Log(spec.Name)), filepath.Dir(s.recordPath(spec.Name))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	logPath := s.Log(spec.Name)
	if err := os.Rename(logPath, logPath+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	if err := sealFiles(); err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	cmd := exec.Command(spec.Path, spec.Args...) // no context: the component outlives this program
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, s.Env
	if cmd.Dir = spec.Dir; cmd.Dir == "" {
		cmd.Dir = s.Home
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	if err := s.write(spec.Name, cmd.Process.Pid); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	return cmd.Process.Release()
}

func (s Store) write(name string, pid int) error {
	start, _, err := startTime(pid)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	boot, err := bootID()
	if err != nil {
		return err
	}
	data, err := json.Marshal(record{Pid: pid, Start: start, Boot: boot})
	if err != nil {
		return err
	}
	return os.WriteFile(s.recordPath(name), data, 0o600)
}

// Names lists the components that were started and not stopped since, whether they still run or not.
func (s Store) Names() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(s.Home, "run", "*.json"))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	slices.Sort(names)
	return names, nil
}

// Started tells whether a component was started and not stopped since.
func (s Store) Started(name string) bool {
	_, err := os.Stat(s.recordPath(name))
	return err == nil
}

// Pid returns the process of a component that runs now.
func (s Store) Pid(name string) (pid int, running bool) {
	r, err := s.read(name)
	if err != nil || !r.alive() {
		return 0, false
	}
	return r.Pid, true
}

func (s Store) read(name string) (record, error) {
	var r record
	data, err := os.ReadFile(s.recordPath(name))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// alive is false for a process that is gone, is a zombie, or only has the number of ours.
func (r record) alive() bool {
	boot, err := bootID()
	if err != nil || boot != r.Boot {
		return false
	}
	start, zombie, err := startTime(r.Pid)
	return err == nil && !zombie && start == r.Start
}
