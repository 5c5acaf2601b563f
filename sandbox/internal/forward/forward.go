// Package forward passes TCP connections on, byte for byte.
//
// It owns one listener and the connections made through it. It looks into nothing: TLS stays between the two ends.
package forward

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Run accepts connections at listen and passes them on to target until the context ends.
func Run(ctx context.Context, listen, target string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	return serve(ctx, listener, target)
}

func serve(ctx context.Context, listener net.Listener, target string) error {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		open.Go(func() { pass(ctx, client, target) })
	}
}

func pass(ctx context.Context, client net.Conn, target string) {
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", target)
	if err != nil {
		return // the client sees its connection end, as with a server that is down
	}
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })()
	var both sync.WaitGroup
	both.Go(func() { copyHalf(server, client) })
	both.Go(func() { copyHalf(client, server) })
	both.Wait()
}

// copyHalf tells the receiver when the sender has said all, and leaves the other direction open.
func copyHalf(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
