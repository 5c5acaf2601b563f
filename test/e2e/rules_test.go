package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/rules.md and docs/doctor.md say of each reason how it is known. One that is said to be provoked is asked for by a script
// here.
func TestProvokedReasons(t *testing.T) {
	t.Parallel()
	var page []byte
	for _, name := range []string{"rules.md", "doctor.md"} {
		text, err := os.ReadFile("../../docs/" + name)
		require.NoError(t, err)
		page = append(page, text...)
	}
	var scripts []byte
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/outage/*.txtar"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			scripts = append(scripts, text...)
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| provoked \\|").FindAllSubmatch(page, -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		assert.Regexp(t, `\b`+string(row[1])+`\b`, string(scripts), "no script provokes it")
	}
}
