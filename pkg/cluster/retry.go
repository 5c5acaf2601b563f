package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// request names what a call is about, for errors and for asking after the right to do it.
type request struct {
	verb, resource, subresource, namespace string

	group string // "": that of the resource, as groupOf knows it
}

func (r request) String() string {
	if r.subresource != "" {
		return r.resource + "/" + r.subresource
	}
	return r.resource
}

// retry runs call until it succeeds, fails for good, or the server was out of reach for options.RetryFor. call must be
// safe to repeat. A 401 is repeated once, because an expired credential is renewed by the first one.
func (c *Client) retry(ctx context.Context, r request, call func(context.Context) error) error {
	pause := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 1 << 30, Cap: 5 * time.Second}
	start := c.options.Now()
	var last error // the newest failure of the connection
	refused := false
	for {
		err := call(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return c.ended(ctx, start, last)
		case apierrors.IsUnauthorized(err) && !refused:
			refused = true
			continue
		case !transient(err):
			return c.classify(ctx, r, err)
		}
		tried := c.options.Now().Sub(start)
		if tried >= c.options.RetryFor {
			return &UnreachableError{Host: c.Host, For: tried, Err: err}
		}
		last = err
		c.notice.Do(func() {
			if c.options.Notice != nil {
				c.options.Notice(fmt.Sprintf("cannot reach %s (%v); trying again for up to %s", c.Host, Plain(err), c.options.RetryFor))
			}
		})
		if !sleep(ctx, min(pause.Step(), c.options.RetryFor-tried)) {
			return c.ended(ctx, start, last)
		}
	}
}

// ended is why a call ended from outside: a time limit that is over while the server does not answer is a server out of
// reach.
func (c *Client) ended(ctx context.Context, start time.Time, last error) error {
	if last != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &UnreachableError{Host: c.Host, For: c.options.Now().Sub(start), Err: last}
	}
	return context.Cause(ctx)
}

// sleep waits for d or the end of ctx; it tells whether d passed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// classify gives an error that is final its meaning.
func (c *Client) classify(ctx context.Context, r request, err error) error {
	var status apierrors.APIStatus
	switch {
	case apierrors.IsUnauthorized(err):
		return &AccessError{Err: err}
	case apierrors.IsForbidden(err):
		if c.mayNot(ctx, r) {
			return &AccessError{Verb: r.verb, Resource: r.String(), Namespace: r.namespace, Err: err}
		}
		return err // refused by admission or quota: the caller has the right
	case errors.As(err, &status):
		return err
	}
	return &UnreachableError{Host: c.Host, Err: err}
}

// mayNot asks the API server whether the caller lacks the right. An answer that does not come counts as no: a 403 then
// stays what it is.
func (c *Client) mayNot(ctx context.Context, r request) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: r.namespace, Verb: r.verb, Group: cmp.Or(r.group, groupOf(r.resource)), Resource: r.resource, Subresource: r.subresource,
		},
	}}
	answer, err := c.authz.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	return err == nil && !answer.Status.Allowed
}

func groupOf(resource string) string {
	switch resource {
	case "jobs", "cronjobs":
		return "batch"
	case "leases":
		return "coordination.k8s.io"
	case "workloads":
		return "kueue.x-k8s.io"
	case "pendingworkloads":
		return "visibility.kueue.x-k8s.io"
	}
	return ""
}

func unexpectedEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
