package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/image"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/node"
)

// baseImage is the image that Pods of tests and examples use.
const baseImage = "busybox:local"

var errSimulated = errors.New("this sandbox simulates its node: every image exists, none is needed")

// PushOptions say what image to make and where to put it.
type PushOptions struct {
	Command []string
	User    string
	Files   []image.File
	OnNode  bool // also onto the node, as if it had been pulled
}

// Push makes an image out of busybox under a name and puts it into the registry.
func (c Cluster) Push(ctx context.Context, name string, o PushOptions) (image.Reference, error) {
	reference, err := image.ParseReference(name)
	if err != nil {
		return reference, err
	}
	r, err := c.withImages()
	if err != nil {
		return reference, err
	}
	options, err := image.LoadBusybox(node.Busybox)
	if err != nil {
		return reference, err
	}
	if len(o.Command) > 0 {
		options.Command = o.Command
	}
	options.User, options.Files = o.User, o.Files
	return reference, r.push(ctx, options, o.OnNode, reference)
}

func (r running) push(ctx context.Context, options image.Options, onNode bool, references ...image.Reference) error {
	var made []image.Image
	for _, reference := range references {
		built, err := image.Build(reference, options)
		if err != nil {
			return err
		}
		if err := r.registry().Push(ctx, built); err != nil {
			return err
		}
		made = append(made, built)
	}
	if !onNode {
		return nil
	}
	return r.images().Import(ctx, made...)
}

// pushBase provides the images that the node cannot do without.
func (r running) pushBase(ctx context.Context) error {
	options, err := image.LoadBusybox(node.Busybox)
	if err != nil {
		return err
	}
	busybox, err := image.ParseReference(baseImage)
	if err != nil {
		return err
	}
	pause, err := image.ParseReference(node.PauseImage)
	if err != nil {
		return err
	}
	if err := r.push(ctx, options, true, busybox); err != nil {
		return err
	}
	options.Command = []string{"/bin/sleep", "2147483647"}
	return r.push(ctx, options, true, pause)
}

// ImageStatus is where an image is.
type ImageStatus struct {
	Name     string
	Registry bool
	Node     bool
}

// Images lists what the registry and the node have.
func (c Cluster) Images(ctx context.Context) ([]ImageStatus, error) {
	r, err := c.withImages()
	if err != nil {
		return nil, err
	}
	inRegistry, err := r.registry().List(ctx)
	if err != nil {
		return nil, err
	}
	onNode, err := r.images().List(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]ImageStatus{}
	for _, name := range inRegistry {
		found[name] = ImageStatus{Name: name, Registry: true}
	}
	for _, full := range onNode {
		_, name, _ := strings.Cut(full, "/") // the registry stands in for all hosts
		status := found[name]
		status.Name, status.Node = name, true
		found[name] = status
	}
	all := make([]ImageStatus, 0, len(found))
	for _, status := range found {
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b ImageStatus) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// RemoveImage takes an image out of the registry and off the node. One that is nowhere is no error.
func (c Cluster) RemoveImage(ctx context.Context, name string) error {
	reference, err := image.ParseReference(name)
	if err != nil {
		return err
	}
	r, err := c.withImages()
	if err != nil {
		return err
	}
	if err := r.registry().Remove(ctx, reference); err != nil && !errors.Is(err, image.ErrNotFound) {
		return err
	}
	return r.images().Remove(ctx, reference)
}

func (c Cluster) withImages() (running, error) {
	r, err := c.open()
	if err == nil && r.Runtime != instance.Containerd {
		err = errSimulated
	}
	return r, err
}
