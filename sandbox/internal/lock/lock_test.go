package lock

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestOneAtATime(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "home")
	release, err := Take(t.Context(), folder, func() { t.Error("waits for a free lock") })
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	got := make(chan error)
	go func() {
		second, err := Take(t.Context(), folder, func() { close(waits) })
		if err == nil {
			second()
		}
		got <- err
	}()
	<-waits
	if err := os.RemoveAll(folder); err != nil { // as `down` does with its home
		t.Fatal(err)
	}
	release()
	if err := <-got; err != nil {
		t.Errorf("after the release: %v", err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the lock is on a folder that is gone: %v", err)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	folder := t.TempDir()
	release, err := Take(t.Context(), folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Take(ctx, folder, cancel); err == nil {
		t.Error("the same lock was given twice")
	}
}
