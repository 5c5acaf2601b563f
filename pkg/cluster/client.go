// Package cluster is the only package that talks to an API server: typed clients, watches, retries, log streams.
//
// It owns the connection and everything that can go wrong with it. It never judges what it reads (package status does)
// and never prints. Every call ends with its context; a call that cannot reach the server is repeated for a bounded
// time and then gives an *UnreachableError; refused credentials or rights give an *AccessError. It uses no discovery:
// the kinds it needs are compiled in.
package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Options say how a Client behaves. The zero value is usable but for Now.
type Options struct {
	UserAgent string
	RetryFor  time.Duration     // how long an unreachable server is tried again
	Now       func() time.Time  // the local clock
	Warn      func(text string) // warnings of the server, each once; nil drops them
	Notice    func(text string) // remarks about the connection, for a person; nil drops them
	Crash     func(value any)   // told of a panic in a goroutine; nil lets it end the program
	Getter    genericclioptions.RESTClientGetter
}

// Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	batch  batchv1client.BatchV1Interface
	core   corev1client.CoreV1Interface
	leases coordinationv1client.CoordinationV1Interface
	authz  authorizationv1client.AuthorizationV1Interface
	authn  authenticationv1client.AuthenticationV1Interface

	Namespace string // of the context, or of -n
	Explicit  bool   // the namespace was asked for with -n
	Context   string // name of the context, "" in a Pod
	Host      string // address of the API server

	http    *http.Client
	options Options
	skew    atomic.Int64 // server's clock less ours, ns
	drift   atomic.Int64 // of that, what the way of the answer cannot have made up
	notice  sync.Once    // a person is told once that the server is out of reach
}

// New reads the kubeconfig behind o.Getter. It sends nothing. An unusable kubeconfig or context is a *ConfigError.
func New(o Options) (*Client, error) {
	config, err := o.Getter.ToRESTConfig()
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	namespace, explicit, err := o.Getter.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, &ConfigError{Err: err}
	}
	c := &Client{Namespace: namespace, Explicit: explicit, Host: config.Host, options: o}
	if raw, err := o.Getter.ToRawKubeConfigLoader().RawConfig(); err == nil {
		c.Context = raw.CurrentContext
		if len(raw.Clusters) == 0 && config.Host == builtinHost {
			return nil, &ConfigError{Err: errors.New("no kubeconfig names a cluster: give --kubeconfig, or set KUBECONFIG to a file that exists")}
		}
	}
	if err := c.connect(config); err != nil {
		return nil, &ConfigError{Err: err}
	}
	return c, nil
}

// builtinHost is what client-go talks to when nothing is configured; no API server of today listens there.
const builtinHost = "http://localhost:8080"

// connect builds the typed clients on one HTTP client. Client-side throttling is off: API Priority and Fairness, on in
// every supported server, sets the pace, and its 429 is obeyed.
func (c *Client) connect(config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.UserAgent = c.options.UserAgent
	config.QPS, config.Burst = -1, -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.WarningHandlerWithContext = &warnings{warn: c.options.Warn}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &serverClock{next: next, client: c} })
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}
	c.http = httpClient
	if c.batch, err = batchv1client.NewForConfigAndClient(config, httpClient); err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}
	if c.core, err = corev1client.NewForConfigAndClient(config, httpClient); err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}
	if c.leases, err = coordinationv1client.NewForConfigAndClient(config, httpClient); err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}
	if c.authz, err = authorizationv1client.NewForConfigAndClient(config, httpClient); err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}
	if c.authn, err = authenticationv1client.NewForConfigAndClient(config, httpClient); err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}
	return nil
}

// Close ends the connections that no request uses. A Client can be used again after it.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// manager is the field manager of every write.
const manager = work.FieldManager

// Now is the server's time as far as its answers tell, else ours. Ages and grace times are counted against stamps of
// the server, so its clock is the one that counts.
func (c *Client) Now() time.Time {
	skew := time.Duration(c.skew.Load())
	if skew.Abs() < minSkew {
		skew = 0
	}
	return c.options.Now().Add(skew)
}

// Drift is how far the server's clock is ahead of ours for sure, as its last answer tells: 0 when both may be the same.
func (c *Client) Drift() time.Duration { return time.Duration(c.drift.Load()) }

// Local is the local clock: for time limits, which must not jump with the server's.
func (c *Client) Local() time.Time { return c.options.Now() }

// caught hands a panic of a goroutine on, where somebody asked for it.
func (c *Client) caught() {
	if c.options.Crash == nil {
		return
	}
	if value := recover(); value != nil {
		c.options.Crash(value)
	}
}

// minSkew hides what the Date header's resolution of a second and the way of an answer make up.
const minSkew = 3 * time.Second

// serverClock reads the Date header of every answer.
type serverClock struct {
	next   http.RoundTripper
	client *Client
}

// RoundTrip implements http.RoundTripper.
func (s *serverClock) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := s.client.options.Now()
	res, err := s.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		answered := s.client.options.Now()
		s.client.skew.Store(int64(at.Sub(answered)))
		s.client.drift.Store(int64(drift(at, asked, answered)))
	}
	return res, nil
}

// drift is how far a clock is ahead of ours at least, that said at, in whole seconds, at some time between two of ours.
func drift(at, asked, answered time.Time) time.Duration {
	switch {
	case at.After(answered):
		return at.Sub(answered)
	case at.Add(time.Second).Before(asked):
		return at.Add(time.Second).Sub(asked)
	}
	return 0
}

// WrappedRoundTripper lets client-go reach the transport below, to close idle connections.
func (s *serverClock) WrappedRoundTripper() http.RoundTripper { return s.next }
