package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// kubectlEnv is where kubectl tells its plugins the path of itself.
const kubectlEnv = "KUBECTL_PATH"

// kustomize is what kubectl's own kustomize makes of a folder; why not a library: docs/adr/0010.
func kustomize(ctx context.Context, a *app, folder string) ([]byte, error) {
	program, err := kubectl(a)
	if err != nil {
		return nil, err
	}
	out, said := &bounded{limit: maxSource, full: errTooLong}, &bounded{limit: maxSaid}
	cmd := exec.CommandContext(ctx, program, "kustomize", "--", folder) //nolint:gosec // the user's own kubectl
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = time.Second // for what kubectl itself started, and left with our pipes
	err = cmd.Run()
	var ended *exec.ExitError
	switch text := strings.TrimPrefix(render.Line(said.data.String()), "error: "); {
	case out.over:
		return nil, errTooLong
	case errors.As(err, &ended) && text != "":
		return nil, errors.New(text)
	case errors.As(err, &ended):
		return nil, fmt.Errorf("%s kustomize ended with %w and said nothing", program, err)
	}
	return out.data.Bytes(), err
}

// kubectl is the program that called us, else the one on PATH. Where kubectl is one of several programs in a binary (k3s),
// what it tells of itself is that binary, which is no kubectl under its own name.
func kubectl(a *app) (string, error) {
	const name = "kubectl"
	caller := a.Getenv(kubectlEnv)
	if strings.HasPrefix(filepath.Base(caller), name) {
		return caller, nil
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path, nil
	case caller != "":
		return caller, nil
	}
	return "", errors.New("kubectl builds it, and there is none on PATH; install kubectl, or build it yourself and give the result with -f")
}

// maxSaid is how much is kept of what kubectl says is wrong.
const maxSaid = 4 << 10

// bounded keeps what is written up to a limit. With full set the first byte beyond ends the writer, else it is dropped.
type bounded struct {
	data  bytes.Buffer // not embedded: its ReadFrom would go past Write
	limit int
	full  error
	over  bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.data.Len()
	if len(p) <= room {
		return b.data.Write(p)
	}
	b.over = true
	b.data.Write(p[:room])
	if b.full != nil {
		return room, b.full
	}
	return len(p), nil
}
