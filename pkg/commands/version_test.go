package commands

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheVersionIsTheStampElseTheModules(t *testing.T) {
	t.Parallel()
	build := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.3.0"},
		Deps:     []*debug.Module{{Path: "k8s.io/api", Version: "v0.1.0"}, {Path: "k8s.io/client-go", Version: "v0.37.2"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
	}
	got := clientVersion("v1.2.3", build)
	assert.Equal(t, "v1.2.3", got.GitVersion)
	assert.Equal(t, "abc", got.GitCommit)
	assert.Equal(t, "v0.37.2", got.Libraries)
	assert.Equal(t, runtime.Version(), got.GoVersion)

	assert.Equal(t, "v0.3.0", clientVersion(unstamped, build).GitVersion, "go install module@version")
	build.Main.Version = "(devel)"
	assert.Equal(t, unstamped, clientVersion(unstamped, build).GitVersion)
	assert.Equal(t, unstamped, clientVersion(unstamped, nil).GitVersion)
}
