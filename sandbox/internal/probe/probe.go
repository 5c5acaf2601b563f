// Package probe asks a sandbox's API server the few questions that starting and showing a sandbox need.
//
// It owns the HTTP client and the shapes of the answers. It never writes to the cluster and knows no client library:
// the driver must build in seconds.
package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// requestTimeout bounds one question; what asks again and again has its own end.
const requestTimeout = 5 * time.Second

// Client asks one API server.
type Client struct {
	server string
	http   *http.Client
}

// New returns a client that asks as the administrator of the instance.
func New(i instance.Instance) (*Client, error) {
	roots, err := os.ReadFile(i.Path("pki", "ca.crt"))
	if err != nil {
		return nil, err
	}
	own, err := tls.LoadX509KeyPair(i.Path("pki", credentials.Admin+".crt"), i.Path("pki", credentials.Admin+".key"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(roots)
	return &Client{server: i.APIServer(), http: &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{ // no Proxy: the sandbox is on this machine
			TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}},
		},
	}}, nil
}

// Ready is nil once the API server serves.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.get(ctx, "/readyz")
	return err
}

// Exists tells whether there is an object at a path.
func (c *Client) Exists(ctx context.Context, path string) error {
	_, err := c.get(ctx, path)
	return err
}

type node struct {
	Status struct {
		Conditions []struct {
			Type, Status, Message string
		}
	}
}

// NodeReady is nil once the node is Ready. A kubelet that was stopped leaves an old Ready behind for a while, so the
// kubelet itself is asked too when direct is true.
func (c *Client) NodeReady(ctx context.Context, direct bool) error {
	path := "/api/v1/nodes/" + instance.NodeName
	data, err := c.get(ctx, path)
	if err != nil {
		return err
	}
	var n node
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type != "Ready" {
			continue
		}
		if condition.Status != "True" {
			return fmt.Errorf("node %s is not Ready: %s", instance.NodeName, condition.Message)
		}
		if direct {
			_, err = c.get(ctx, path+"/proxy/healthz")
		}
		return err
	}
	return fmt.Errorf("node %s has no condition Ready yet", instance.NodeName)
}

func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s: %s", path, response.Status, strings.TrimSpace(string(body)))
	}
	return body, nil
}
