package process

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func store(t *testing.T) Store { return Store{Home: t.TempDir(), Env: os.Environ()} }

// awaitDead polls because the end of a process cannot be awaited once it was released.
func awaitDead(t *testing.T, s Store, name string) error {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for tick := time.Tick(5 * time.Millisecond); ; {
		if err := s.Dead(name); err != nil {
			return err
		}
		select {
		case <-deadline:
			t.Fatalf("%s still runs", name)
		case <-tick:
		}
	}
}

func TestStartStop(t *testing.T) {
	s := store(t)
	if err := s.Start(Spec{Name: "sleeper", Path: "/bin/sleep", Args: []string{"600"}}); err != nil {
		t.Fatal(err)
	}
	first, running := s.Pid("sleeper")
	if !running {
		t.Fatal("does not run after Start")
	}
	if err := s.Start(Spec{Name: "sleeper", Path: "/bin/sleep", Args: []string{"600"}}); err != nil {
		t.Fatal(err)
	}
	if second, _ := s.Pid("sleeper"); second != first {
		t.Errorf("a second Start made another process: %d, then %d", first, second)
	}
	for _, grace := range []time.Duration{10 * time.Second, 0} { // the second time it runs no longer
		if err := s.Stop(t.Context(), grace, "sleeper"); err != nil {
			t.Fatal(err)
		}
	}
	if _, running := s.Pid("sleeper"); running || s.Started("sleeper") {
		t.Error("still known after Stop")
	}
}

func TestStopKillsWhatIgnoresTerm(t *testing.T) {
	s := store(t)
	script := `trap "" TERM; echo armed; while :; do sleep 0.05; done`
	if err := s.Start(Spec{Name: "deaf", Path: "/bin/sh", Args: []string{"-c", script}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context(), 100*time.Millisecond, "deaf"); err != nil {
		t.Fatal(err)
	}
	if _, running := s.Pid("deaf"); running {
		t.Error("survived")
	}
}

func TestDeadShowsLastLines(t *testing.T) {
	s := store(t)
	if err := s.Start(Spec{Name: "etcd", Path: "/bin/sh", Args: []string{"-c", "seq 20; echo no space left; exit 3"}}); err != nil {
		t.Fatal(err)
	}
	err := awaitDead(t, s, "etcd")
	var died *DiedError
	if !errors.As(err, &died) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"etcd ended", "no space left", s.Log("etcd")} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if len(died.Tail) != 8 {
		t.Errorf("tail has %d lines", len(died.Tail))
	}
}

func TestReusedPidIsNotOurs(t *testing.T) {
	s := store(t)
	if err := s.Start(Spec{Name: "old", Path: "/bin/sleep", Args: []string{"600"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(t.Context(), 0, "old") })
	genuine, err := s.read("old")
	if err != nil {
		t.Fatal(err)
	}
	for name, forged := range map[string]record{
		"other start": {Pid: genuine.Pid, Start: genuine.Start + 1, Boot: genuine.Boot},
		"other boot":  {Pid: genuine.Pid, Start: genuine.Start, Boot: "yesterday"},
	} {
		data, err := json.Marshal(forged)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.recordPath("forged"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(t.Context(), 0, "forged"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, running := s.Pid("old"); !running {
			t.Fatalf("%s: a process that is not ours was killed", name)
		}
	}
}

// TestComponentsInheritNoFiles starts this test as a component with a file open as a caller would have left it.
func TestComponentsInheritNoFiles(t *testing.T) {
	file, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	inherited, err := syscall.Dup(int(file.Fd())) // unlike what Go opens, not closed when a program starts
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	s := store(t)
	if err := s.Start(Spec{Name: "lister", Path: "/bin/sh", Args: []string{"-c", "ls /dev/fd/"}}); err != nil {
		t.Fatal(err)
	}
	_ = awaitDead(t, s, "lister")
	if slices.Contains(s.Tail("lister", 20), strconv.Itoa(inherited)) {
		t.Errorf("file %d is open in the component", inherited)
	}
}
