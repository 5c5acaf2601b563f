package commands

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parseDuration reads a duration as Go writes it, and days: 90m, 36h, 7d, 1d12h.
func parseDuration(text string) (time.Duration, error) {
	const most = 100 * 365 // days: a century, and far from what a Duration can hold
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 0 || n > most {
		return 0, errors.New("the days are no number")
	}
	d := time.Duration(n) * day
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more > most*day {
		return 0, errors.New("after the days a duration like 12h may follow")
	}
	return d + more, nil
}

// days is a flag whose value may be given in days.
type days time.Duration

// Set implements pflag.Value.
func (d *days) Set(text string) error {
	parsed, err := parseDuration(text)
	*d = days(parsed)
	return err
}

func (d *days) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *days) Type() string { return "days" }
