package commands

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDurationsMayBeInDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "36h": 36 * time.Hour, "7d": 7 * day, "1d12h": 36 * time.Hour, "0d": 0, "-1h": -time.Hour, "36500d": 36500 * day,
	} {
		got, err := parseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "7", "d", "-1d", "1.5d", "1d-1h", "1dx", "36501d", "999999999999999999d", "1d99999999h", "7days", "1w"} {
		_, err := parseDuration(text)
		require.Error(t, err, text)
	}
}
