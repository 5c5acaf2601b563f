// Package image makes container images out of one static program and puts them where the node finds them.
//
// It owns the bytes of the images and the talk with the registry and with containerd. It reads no clock: the same
// program, name and options make the same image on every machine (TestImageIsReproducible).
package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Media types of what an image is made of.
const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	indexType    = "application/vnd.oci.image.index.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
)

// epoch is the time of every file and image.
var epoch = time.Unix(0, 0).UTC()

// File is a file that an image holds besides busybox.
type File struct {
	Path string // absolute, inside the image
	Mode int64
	Data []byte
}

// Options say what image to make.
type Options struct {
	Busybox []byte   // a static busybox
	Applets []string // names under which busybox is called
	Command []string // what runs when a Pod names no command
	User    string   // as whom it runs; root when empty
	Files   []File
}

// descriptor points to bytes by their digest.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Image is one image: a manifest and the bytes that it points to.
type Image struct {
	Reference Reference
	Manifest  []byte
	Blobs     map[string][]byte // by digest; configuration and layers
}

// LoadBusybox fills the busybox part of options from a program of this machine.
func LoadBusybox(program string) (Options, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return Options{}, err
	}
	list, err := exec.Command(program, "--list").Output()
	if err != nil {
		return Options{}, fmt.Errorf("%s --list: %w", program, err)
	}
	return Options{Busybox: data, Applets: strings.Fields(string(list)), Command: []string{"sh"}}, nil
}

// Build makes an image. Its name is part of its configuration, so that two names never are one image to the node.
func Build(reference Reference, o Options) (Image, error) {
	base, err := busyboxLayer(o)
	if err != nil {
		return Image{}, err
	}
	layers := [][]byte{base}
	if len(o.Files) > 0 {
		extra, err := filesLayer(o.Files)
		if err != nil {
			return Image{}, err
		}
		layers = append(layers, extra)
	}
	image := Image{Reference: reference, Blobs: map[string][]byte{}}
	var descriptors []descriptor
	var digests []string
	for _, layer := range layers {
		d := image.add(layerType, layer)
		descriptors, digests = append(descriptors, d), append(digests, d.Digest)
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "created": epoch,
		"config": map[string]any{
			"Env": []string{"PATH=/bin"}, "Cmd": o.Command, "User": o.User,
			"Labels": map[string]string{"org.opencontainers.image.ref.name": reference.String()},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": digests},
	})
	if err != nil {
		return Image{}, err
	}
	image.Manifest, err = json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": image.add(configType, config), "layers": descriptors,
	})
	return image, err
}

func (i Image) add(mediaType string, data []byte) descriptor {
	d := describe(mediaType, data)
	i.Blobs[d.Digest] = data
	return d
}

func describe(mediaType string, data []byte) descriptor {
	sum := sha256.Sum256(data)
	return descriptor{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(data)}
}

// busyboxLayer is a root file system with busybox under all its names and little else.
func busyboxLayer(o Options) ([]byte, error) {
	var l layer
	for _, folder := range []string{"bin", "etc", "root", "var"} {
		l.folder(folder, 0o755)
	}
	l.folder("tmp", 0o1777)
	l.file("bin/busybox", 0o755, o.Busybox)
	applets := slices.Clone(o.Applets)
	slices.Sort(applets)
	for _, applet := range slices.Compact(applets) {
		if applet != "busybox" {
			l.write(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	l.file("etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"))
	l.file("etc/group", 0o644, []byte("root:x:0:\nnogroup:x:65534:\n"))
	return l.bytes()
}

func filesLayer(files []File) ([]byte, error) {
	var l layer
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range sorted {
		l.file(strings.TrimPrefix(path.Clean(f.Path), "/"), f.Mode, f.Data)
	}
	return l.bytes()
}

// layer collects a tar whose bytes depend on nothing but what is put in. The first error stays.
type layer struct {
	buffer bytes.Buffer
	writer *tar.Writer
	err    error
}

func (l *layer) folder(name string, mode int64) {
	l.write(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode}, nil)
}

func (l *layer) file(name string, mode int64, data []byte) {
	l.write(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(data))}, data)
}

func (l *layer) write(header *tar.Header, data []byte) {
	if l.writer == nil {
		l.writer = tar.NewWriter(&l.buffer)
	}
	header.ModTime, header.Format = epoch, tar.FormatPAX
	if l.err == nil {
		l.err = l.writer.WriteHeader(header)
	}
	if l.err == nil {
		_, l.err = l.writer.Write(data)
	}
}

func (l *layer) bytes() ([]byte, error) {
	if l.err == nil && l.writer != nil {
		l.err = l.writer.Close()
	}
	return l.buffer.Bytes(), l.err
}

// Archive packs images into one file that containerd imports (the OCI image layout in a tar).
func Archive(images ...Image) ([]byte, error) {
	var l layer
	l.file("oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`))
	var manifests []descriptor
	written := map[string]bool{}
	for _, image := range images {
		d := describe(manifestType, image.Manifest)
		d.Annotations = map[string]string{"io.containerd.image.name": image.Reference.String()}
		manifests = append(manifests, d)
		blobs := maps.Clone(image.Blobs)
		blobs[d.Digest] = image.Manifest
		for _, digest := range slices.Sorted(maps.Keys(blobs)) {
			if !written[digest] {
				l.file("blobs/"+strings.Replace(digest, ":", "/", 1), 0o644, blobs[digest])
				written[digest] = true
			}
		}
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests})
	if err != nil {
		return nil, err
	}
	l.file("index.json", 0o644, index)
	return l.bytes()
}
