package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

func mustParse(t *testing.T, name string) Reference {
	t.Helper()
	r, err := ParseReference(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func build(t *testing.T, name string, o Options) Image {
	t.Helper()
	image, err := Build(mustParse(t, name), o)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func archive(t *testing.T, images ...Image) []byte {
	t.Helper()
	data, err := Archive(images...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var options = Options{
	Busybox: []byte("program"), Applets: []string{"wget", "busybox", "sh", "sh"}, Command: []string{"sh"},
	Files: []File{{Path: "/opt/b", Mode: 0o644, Data: []byte("b")}, {Path: "/opt/a", Mode: 0o755, Data: []byte("a")}},
}

func TestImageIsReproducible(t *testing.T) {
	reordered := options
	reordered.Applets = []string{"sh", "wget"}
	reordered.Files = []File{options.Files[1], options.Files[0]}
	first, second := build(t, "busybox:local", options), build(t, "busybox:local", reordered)
	if !bytes.Equal(first.Manifest, second.Manifest) {
		t.Error("manifests differ")
	}
	if !bytes.Equal(archive(t, first), archive(t, second)) {
		t.Error("archives differ")
	}
	if bytes.Equal(first.Manifest, build(t, "busybox:other", options).Manifest) {
		t.Error("another name is the same image")
	}
}

func TestBusyboxLayer(t *testing.T) {
	image := build(t, "busybox", options)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	if err := json.Unmarshal(image.Manifest, &manifest); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range manifest.Layers {
		if d.Size != len(image.Blobs[d.Digest]) {
			t.Errorf("layer %s has size %d", d.Digest, d.Size)
		}
		for reader := tar.NewReader(bytes.NewReader(image.Blobs[d.Digest])); ; {
			header, err := reader.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if header.Uid != 0 || !header.ModTime.Equal(epoch) {
				t.Errorf("%s: owner %d, time %s", header.Name, header.Uid, header.ModTime)
			}
			got = append(got, strings.TrimSpace(header.FileInfo().Mode().String()+" "+header.Name+" "+header.Linkname))
		}
	}
	want := []string{
		"drwxr-xr-x bin/", "drwxr-xr-x etc/", "drwxr-xr-x root/", "drwxr-xr-x var/", "dtrwxrwxrwx tmp/",
		"-rwxr-xr-x bin/busybox", "Lrwxrwxrwx bin/sh busybox", "Lrwxrwxrwx bin/wget busybox",
		"-rw-r--r-- etc/passwd", "-rw-r--r-- etc/group", "-rwxr-xr-x opt/a", "-rw-r--r-- opt/b",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestArchiveHoldsEachBlobOnce(t *testing.T) {
	data := archive(t, build(t, "a", options), build(t, "b", options))
	seen := map[string]int{}
	for reader := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen[header.Name]++
	}
	if len(seen) != 8 { // layout, index, 2 shared layers, 2 configurations, 2 manifests
		t.Errorf("files: %v", seen)
	}
	for name, count := range seen {
		if count != 1 {
			t.Errorf("%s is in it %d times", name, count)
		}
	}
}

func TestParseReference(t *testing.T) {
	for name, want := range map[string]string{
		"busybox:local":          "docker.io/library/busybox:local",
		"busybox":                "docker.io/library/busybox:latest",
		"team/app:1":             "docker.io/team/app:1",
		"registry.example/a/b:2": "registry.example/a/b:2",
		"localhost:5000/x":       "localhost:5000/x:latest",
		"docker.io/team/app":     "docker.io/team/app:latest",
	} {
		if got := mustParse(t, name).String(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for _, bad := range []string{"", "Busybox", "a:", "a b", "x@sha256:1", "a//b", ":tag"} {
		if r, err := ParseReference(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, r)
		}
	}
}
