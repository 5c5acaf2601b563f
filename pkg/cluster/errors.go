package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ConfigError says that the kubeconfig, its context or its credentials cannot be used; nothing was sent.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string {
	text := e.Err.Error()
	if before, _, dump := strings.Cut(text, ": couldn't get version/kind"); dump { // what follows are Go types
		return before + ": it is not a kubeconfig"
	}
	return text
}
func (e *ConfigError) Unwrap() error { return e.Err }

// AccessError says that the caller may not do something.
type AccessError struct {
	Verb, Resource, Namespace string // what was asked; empty for refused credentials
	Err                       error
}

func (e *AccessError) Error() string {
	if e.Verb == "" {
		return fmt.Sprintf("the API server refused the credentials: %v", e.Err)
	}
	where := ""
	switch {
	case e.Namespace != "":
		where = " in namespace " + e.Namespace
	case !strings.HasPrefix(e.Resource, "/"): // a path is in none
		where = " in all namespaces"
	}
	return fmt.Sprintf("no right to %s %s%s", e.Verb, e.Resource, where)
}
func (e *AccessError) Unwrap() error { return e.Err }

// UnreachableError says that the API server could not be reached, or did not answer usefully, for some time.
type UnreachableError struct {
	Host string
	For  time.Duration // how long it was tried
	Err  error
}

func (e *UnreachableError) Error() string {
	tried := ""
	if e.For >= time.Second {
		tried = fmt.Sprintf(" (tried for %s)", e.For.Round(time.Second))
	}
	return fmt.Sprintf("the API server %s is out of reach%s: %v", e.Host, tried, Plain(e.Err))
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// Plain takes Go's wrapping off a connection error: what is left is the part a person can use.
func Plain(err error) error {
	var request *url.Error
	if errors.As(err, &request) && request.Err != nil {
		err = request.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// transient tells whether the same request may work a moment later. A context that ended is not transient.
func transient(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if Untrusted(err) {
		return false
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return code == http.StatusTooManyRequests || code >= 500 && code != http.StatusNotImplemented
	}
	var netErr net.Error
	return errors.As(err, &netErr) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) ||
		utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) || unexpectedEnd(err)
}

// Untrusted tells whether err is about a certificate that will not be right a moment later.
func Untrusted(err error) bool {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
