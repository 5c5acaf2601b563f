// Package krew checks the manifest of the plugin with krew's own validator, and installs the plugin with the real krew
// from archives made here, without a network.
package krew

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const (
	root = "../.."
	tag  = "v0.0.1"
)

// manifest is the part of a krew plugin manifest that is looked at here.
type manifest struct {
	Metadata struct{ Name string }
	Spec     struct {
		Version, ShortDescription, Description string
		Platforms                              []platform
	}
}

type platform struct {
	Selector struct{ MatchLabels struct{ OS, Arch string } }
	URI, Bin string
}

func (p platform) String() string {
	return p.Selector.MatchLabels.OS + "_" + p.Selector.MatchLabels.Arch
}

func TestManifestKeepsTheRulesOfTheIndex(t *testing.T) {
	_, m := render(t, func(string) string { return strings.Repeat("0", 64) })
	assert.Equal(t, "work", m.Metadata.Name)
	assert.Equal(t, tag, m.Spec.Version)
	assert.LessOrEqual(t, len(m.Spec.ShortDescription), 50)
	assert.NotContains(t, m.Spec.ShortDescription, "\n")
	for line := range strings.Lines(m.Spec.Description) {
		assert.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 80, line)
	}
	var platforms []string
	for _, p := range m.Spec.Platforms {
		platforms = append(platforms, p.String())
		wantBin := "kubectl-work"
		if p.Selector.MatchLabels.OS == "windows" {
			wantBin += ".exe"
		}
		assert.Equal(t, wantBin, p.Bin, p)
		assert.Contains(t, p.URI, p.String())
	}
	assert.Equal(t, []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"}, platforms)
}

func TestRealKrewInstallsThePlugin(t *testing.T) {
	bin := t.TempDir()
	goBuild(t, bin, "-modfile=tools.mod", "sigs.k8s.io/krew/cmd/krew", "sigs.k8s.io/krew/cmd/validate-krew-manifest")
	goBuild(t, bin, "./cmd/kubectl-work")

	archives := t.TempDir()
	_, m := render(t, func(string) string { return "" })
	sums := map[string]string{}
	for _, p := range m.Spec.Platforms {
		data := archive(t, filepath.Join(bin, "kubectl-work"), p.Bin)
		require.NoError(t, os.WriteFile(filepath.Join(archives, p.String()), data, 0o600))
		sum := sha256.Sum256(data)
		sums[p.URI] = hex.EncodeToString(sum[:])
	}
	text, m := render(t, func(uri string) string { return sums[uri] })
	file := filepath.Join(t.TempDir(), m.Metadata.Name+".yaml") // krew takes the name from the file
	require.NoError(t, os.WriteFile(file, text, 0o600))

	run(t, nil, filepath.Join(bin, "validate-krew-manifest"), "-skip-install", "-manifest", file)
	for _, p := range m.Spec.Platforms {
		t.Run(p.String(), func(t *testing.T) {
			krewRoot := t.TempDir()
			run(t, []string{
				"KREW_ROOT=" + krewRoot, "KREW_NO_UPGRADE_CHECK=1",
				"KREW_OS=" + p.Selector.MatchLabels.OS, "KREW_ARCH=" + p.Selector.MatchLabels.Arch,
			}, filepath.Join(bin, "krew"), "install", "--manifest", file, "--archive", filepath.Join(archives, p.String()))

			installed := filepath.Join(krewRoot, "store", m.Metadata.Name, tag)
			assert.FileExists(t, filepath.Join(installed, "LICENSE"))
			assert.FileExists(t, filepath.Join(installed, p.Bin))
			if p.String() == runtime.GOOS+"_"+runtime.GOARCH {
				out := run(t, nil, filepath.Join(krewRoot, "bin", "kubectl-work"), "version", "--client")
				assert.Contains(t, out, tag)
			}
		})
	}
}

// render fills in the template as krew-release-bot does; sha gives the checksum of the archive at an address.
func render(t *testing.T, sha func(uri string) string) ([]byte, manifest) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, ".krew.yaml"))
	require.NoError(t, err)
	release := struct{ TagName string }{tag}
	execute := func(text string, functions template.FuncMap) ([]byte, error) {
		parsed, err := template.New("").Option("missingkey=error").Funcs(functions).Parse(text)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = parsed.Execute(&out, release)
		return out.Bytes(), err
	}
	text, err := execute(string(source), template.FuncMap{
		"addURIAndSha": func(address, _ string) (string, error) {
			uri, err := execute(address, nil)
			return fmt.Sprintf("uri: %s\n    sha256: %s", uri, cmp.Or(sha(string(uri)), "unknown")), err
		},
	})
	require.NoError(t, err)
	var m manifest
	require.NoError(t, yaml.Unmarshal(text, &m))
	return text, m
}

// archive packs the binary under the given name together with the licence, as a release does.
func archive(t *testing.T, binary, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	for _, file := range []struct {
		path, name string
		mode       int64
	}{{binary, name, 0o755}, {filepath.Join(root, "LICENSE"), "LICENSE", 0o644}} {
		data, err := os.ReadFile(file.path)
		require.NoError(t, err)
		require.NoError(t, files.WriteHeader(&tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(data))}))
		_, err = files.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, files.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}

// goBuild builds into folder, with the flags of the Makefile, so that nothing is compiled twice.
func goBuild(t *testing.T, folder string, args ...string) {
	t.Helper()
	stamp := "-X github.com/kubectl-work/kubectl-work/pkg/commands.version=" + tag
	cmd := exec.CommandContext(t.Context(), "go", append([]string{
		"build", "-trimpath", "-ldflags", "-s -w " + stamp, "-o", folder + string(filepath.Separator),
	}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// run runs a program with a few more variables of the environment and gives its output.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", filepath.Base(name), strings.Join(args, " "), out)
	return string(out)
}
