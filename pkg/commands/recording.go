package commands

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/record"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// recorder writes Snapshots to a file, line by line, so that what was seen survives a kill. The zero value records nothing.
type recorder struct {
	file   *os.File
	writer *record.Writer
	begun  bool
	cut    error // of emptying an existing file
}

// openRecorder makes the file of --record before anything is asked, "" makes none. An existing file keeps what it holds
// until there is something to record.
func openRecorder(path string) (*recorder, error) {
	if path == "" {
		return &recorder{}, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the caller names it
	if err != nil {
		return nil, refuse("--record %s: %s", path, fileProblem(err))
	}
	return &recorder{file: file, writer: record.NewWriter(file)}, nil
}

func (r *recorder) add(s status.Snapshot) {
	if r.writer == nil {
		return
	}
	if !r.begun {
		r.begun = true
		if info, err := r.file.Stat(); err == nil && info.Mode().IsRegular() { // a pipe holds nothing
			r.cut = r.file.Truncate(0)
		}
	}
	r.writer.Add(s)
}

// close ends the recording and tells whether all of it was written.
func (r *recorder) close() error {
	if r.file == nil {
		return nil
	}
	err := errors.Join(r.cut, r.writer.Err())
	if closed := r.file.Close(); err == nil && closed != nil {
		err = fmt.Errorf("write the recording: %w", closed)
	}
	r.file = nil
	return err
}

// replayed reads a recording and returns what it knew at a time: a duration from its start, a moment, or "" for its end.
func replayed(path, at string, names []string) ([]status.Snapshot, error) {
	file, err := os.Open(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, refuse("--replay %s: %s", path, fileProblem(err))
	}
	defer file.Close() //nolint:errcheck // it was only read
	r, err := record.Read(file)
	if err != nil {
		return nil, refuse("--replay %s: %w", path, err)
	}
	moment := r.End()
	if after, err := time.ParseDuration(at); err == nil {
		moment = r.Start.Add(after)
	} else if at != "" {
		if moment, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, refuse("--at %q is neither a duration like 2m nor a time like 2026-12-01T12:00:00Z", at)
		}
	}
	snapshots := r.At(moment)
	if len(snapshots) == 0 {
		return nil, refuse("--at %s: the recording begins at %s and ends at %s", at, r.Start.UTC().Format(time.RFC3339), r.End().UTC().Format(time.RFC3339))
	}
	return named(snapshots, names)
}
