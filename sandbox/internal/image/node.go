package image

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Node is the image store of the node's containerd.
type Node struct{ Socket string }

// Ready is nil once containerd answers.
func (n Node) Ready(ctx context.Context) error {
	_, err := n.ctr(ctx, nil, "version")
	return err
}

// Import puts images on the node, so that no pull is needed.
func (n Node) Import(ctx context.Context, images ...Image) error {
	archive, err := Archive(images...)
	if err != nil {
		return err
	}
	_, err = n.ctr(ctx, archive, "images", "import", "-")
	return err
}

// List returns the full names of the images on the node.
func (n Node) List(ctx context.Context) ([]string, error) {
	output, err := n.ctr(ctx, nil, "images", "list", "--quiet")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(output), func(name string) bool {
		return strings.HasPrefix(name, "sha256:") || strings.Contains(name, "@") // the kubelet's own second names
	}), nil
}

// Remove takes an image off the node, with the second names that point to the same.
func (n Node) Remove(ctx context.Context, reference Reference) error {
	output, err := n.ctr(ctx, nil, "images", "list", "name=="+reference.String())
	if err != nil {
		return err
	}
	digest := digestOf(output)
	if digest == "" {
		return nil
	}
	output, err = n.ctr(ctx, nil, "images", "list")
	if err != nil {
		return err
	}
	var names []string
	for line := range strings.Lines(output) {
		if fields := strings.Fields(line); len(fields) > 2 && slices.Contains(fields, digest) {
			names = append(names, fields[0])
		}
	}
	_, err = n.ctr(ctx, nil, append([]string{"images", "remove"}, names...)...)
	return err
}

// digestOf reads the digest from a table with one image in it.
func digestOf(table string) string {
	for field := range strings.FieldsSeq(table) {
		if strings.HasPrefix(field, "sha256:") {
			return field
		}
	}
	return ""
}

func (n Node) ctr(ctx context.Context, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "ctr", append([]string{"--address", n.Socket, "--namespace", "k8s.io"}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
