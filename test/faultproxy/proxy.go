package faultproxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy is a running fault proxy. Its methods may be called from any goroutine.
type Proxy struct {
	upstream  *url.URL
	transport http.RoundTripper
	listener  *listener
	server    *http.Server
	served    chan struct{} // closed when the server has returned
	ca        []byte        // PEM
	rules     rules
	log       requestLog

	mu        sync.Mutex
	tokens    []string
	onRequest Hook
	onAnswer  Hook
}

// Hook sees a request at one point of its way. It may block. When it returns false the request goes no further and
// its connection is cut.
type Hook func(Request) (carryOn bool)

// New starts a proxy in front of the API server that target names, with target's credentials.
func New(target *rest.Config) (*Proxy, error) {
	cfg := rest.CopyConfig(target)
	cfg.DisableCompression = true // the client's own Accept-Encoding decides
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("fault proxy: address of the target: %w", err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("fault proxy: credentials of the target: %w", err)
	}
	cert, ca, err := selfSigned()
	if err != nil {
		return nil, fmt.Errorf("fault proxy: certificate: %w", err)
	}
	lis, err := listen()
	if err != nil {
		return nil, fmt.Errorf("fault proxy: %w", err)
	}
	p := &Proxy{
		upstream: base, transport: transport, listener: lis, ca: ca,
		served: make(chan struct{}), tokens: []string{rand.Text()},
	}
	p.server = &http.Server{
		Handler:           p,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: time.Minute,
		ConnContext:       withConn,
		ErrorLog:          log.New(discard{}, "", 0), // cut handshakes are what we are here for
	}
	go func() {
		defer close(p.served)
		_ = p.server.ServeTLS(lis, "", "") // ends with ErrServerClosed at Close
	}()
	return p, nil
}

// Close stops the proxy and cuts what is still open.
func (p *Proxy) Close() error {
	p.listener.shutdown()
	err := p.server.Close()
	<-p.served
	if errors.Is(err, net.ErrClosed) {
		return nil // the listener is ours and was closed first
	}
	return err
}

// URL is the address clients use, https://127.0.0.1:PORT. It survives outages.
func (p *Proxy) URL() string { return "https://" + p.listener.addr }

// CA is the PEM certificate that vouches for URL.
func (p *Proxy) CA() []byte { return slices.Clone(p.ca) }

// Token is the first accepted bearer token, the one in Kubeconfig.
func (p *Proxy) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens[0]
}

// Accept replaces the accepted bearer tokens: every other one gets 401 from now on, as if it had expired.
func (p *Proxy) Accept(token string, more ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = append([]string{token}, more...)
}

// Kubeconfig writes a kubeconfig for the proxy into dir, with namespace in its only context, and returns its path.
func (p *Proxy) Kubeconfig(dir, namespace string) (string, error) {
	const name = "faultproxy"
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[name] = &clientcmdapi.Cluster{Server: p.URL(), CertificateAuthorityData: p.CA()}
	cfg.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: p.Token()}
	cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	cfg.CurrentContext = name
	path := filepath.Join(dir, "faultproxy-"+strings.TrimPrefix(p.listener.addr, "127.0.0.1:")+".kubeconfig")
	data, err := clientcmd.Write(*cfg)
	if err != nil {
		return "", fmt.Errorf("fault proxy: kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("fault proxy: kubeconfig: %w", err)
	}
	return path, nil
}

// Config is the client configuration that Kubeconfig writes, for clients in the same process.
func (p *Proxy) Config() *rest.Config {
	return &rest.Config{
		Host: p.URL(), BearerToken: p.Token(), QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: p.CA()},
	}
}

// Add puts a rule behind those already there. Its counters and its clock start now.
func (p *Proxy) Add(rule Rule) { p.rules.add(rule, time.Now()) }

// ClearRules removes every rule. Faults already under way go on.
func (p *Proxy) ClearRules() { p.rules.clear() }

// OnRequest sets the hook between arrival and forwarding, nil for none. At request n the server has seen n-1.
func (p *Proxy) OnRequest(h Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onRequest = h
}

// OnAnswer sets the hook between the server's answer and its forwarding: the server has acted, the client does not
// know yet. nil for none.
func (p *Proxy) OnAnswer(h Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onAnswer = h
}

// Down refuses connections and cuts the open ones, until Up.
func (p *Proxy) Down() { p.listener.down() }

// Up ends Down on the same port.
func (p *Proxy) Up() error { return p.listener.up() }

// Freeze makes every open connection half-open, until Thaw: nothing moves either way, nothing is closed. New
// connections work.
func (p *Proxy) Freeze() { p.listener.each((*conn).freeze) }

// Thaw delivers what Freeze held back.
func (p *Proxy) Thaw() { p.listener.each((*conn).thaw) }

// Requests is the log so far, in order of arrival.
func (p *Proxy) Requests() []Request { return p.log.all() }

// Count is the number of requests so far that m matches.
func (p *Proxy) Count(m Match) int { return p.log.count(m) }

// Await returns when n requests that m matches have arrived, or with ctx's cause.
func (p *Proxy) Await(ctx context.Context, m Match, n int) error { return p.log.await(ctx, m, n) }

func (p *Proxy) authorized(r *http.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && slices.Contains(p.tokens, token)
}

func (p *Proxy) hooks() (onRequest, onAnswer Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.onRequest, p.onAnswer
}

// discard drops the log lines of the HTTP server.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
