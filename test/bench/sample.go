package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// sample is the cost of one run.
type sample struct {
	wall, cpu time.Duration
	memory    int64 // peak resident set, bytes
}

func clock(cmd *exec.Cmd) (sample, error) {
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return sample{}, err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, errors.New("this system tells no resource usage")
	}
	return sample{
		wall:   wall,
		cpu:    cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		memory: usage.Maxrss * 1024, // kilobytes on Linux
	}, nil
}

// plus is one run after the other.
func (s sample) plus(other sample) sample {
	return sample{wall: s.wall + other.wall, cpu: s.cpu + other.cpu, memory: max(s.memory, other.memory)}
}

func median(all []sample) sample {
	return sample{
		wall:   middle(all, func(s sample) time.Duration { return s.wall }),
		cpu:    middle(all, func(s sample) time.Duration { return s.cpu }),
		memory: middle(all, func(s sample) int64 { return s.memory }),
	}
}

func middle[T cmp.Ordered](all []sample, f func(sample) T) T {
	values := make([]T, len(all))
	for i, s := range all {
		values[i] = f(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (s sample) String() string {
	return fmt.Sprintf("%5d ms %5d ms %4d MB", s.wall.Milliseconds(), s.cpu.Milliseconds(), s.memory>>20)
}

func (s sample) over(other sample) string {
	return fmt.Sprintf("%5.2f %5.2f %5.2f", float64(s.wall)/float64(other.wall), float64(s.cpu)/float64(other.cpu),
		float64(s.memory)/float64(other.memory))
}
