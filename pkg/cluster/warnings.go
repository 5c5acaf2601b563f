package cluster

import (
	"context"
	"sync"
)

// warnings hands each warning of the server on once (https://kubernetes.io/blog/2020/09/03/warnings/).
type warnings struct {
	warn func(text string)
	mu   sync.Mutex
	seen map[string]bool
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code != 299 || text == "" || w.warn == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.warn(text)
}
