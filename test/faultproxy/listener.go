package faultproxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
)

// listener accepts on one loopback port, also across outages, and knows every open connection.
type listener struct {
	addr string
	done chan struct{} // closed at shutdown

	mu     sync.Mutex
	inner  net.Listener  // nil during an outage
	change chan struct{} // closed and replaced when inner comes back
	conns  map[*conn]struct{}
	once   sync.Once
}

func listen() (*listener, error) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &listener{
		addr: inner.Addr().String(), inner: inner, done: make(chan struct{}),
		change: make(chan struct{}), conns: map[*conn]struct{}{},
	}, nil
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		inner, change := l.inner, l.change
		l.mu.Unlock()
		if inner == nil {
			select {
			case <-change:
				continue
			case <-l.done:
				return nil, net.ErrClosed
			}
		}
		raw, err := inner.Accept()
		if err != nil {
			if l.replaced(inner) {
				continue
			}
			return nil, err
		}
		c := &conn{Conn: raw, owner: l, closed: make(chan struct{})}
		l.mu.Lock()
		alive := l.inner == inner
		if alive {
			l.conns[c] = struct{}{}
		}
		l.mu.Unlock()
		if !alive { // accepted by the backlog while going down
			c.kill()
			continue
		}
		return c, nil
	}
}

// replaced reports whether inner failed because an outage took it away.
func (l *listener) replaced(inner net.Listener) bool {
	select {
	case <-l.done:
		return false
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner != inner
}

func (l *listener) Close() error {
	l.shutdown()
	return nil
}

func (l *listener) Addr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", l.addr)
	if err != nil { // l.addr came from a listener
		return &net.TCPAddr{}
	}
	return addr
}

func (l *listener) shutdown() {
	l.once.Do(func() { close(l.done) })
	l.down()
}

func (l *listener) down() {
	l.mu.Lock()
	inner := l.inner
	l.inner = nil
	l.mu.Unlock()
	if inner != nil {
		_ = inner.Close() // already closed is as good
	}
	l.each((*conn).kill)
}

func (l *listener) up() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
		return nil
	default:
	}
	if l.inner != nil {
		return nil
	}
	inner, err := net.Listen("tcp", l.addr)
	if err != nil {
		return fmt.Errorf("fault proxy: end of the outage: %w", err)
	}
	l.inner = inner
	close(l.change)
	l.change = make(chan struct{})
	return nil
}

func (l *listener) each(f func(*conn)) {
	l.mu.Lock()
	all := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		f(c)
	}
}

// conn is one client connection below TLS. It can be frozen: nothing moves, nothing closes.
type conn struct {
	net.Conn
	owner  *listener
	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	freed chan struct{} // non-nil while frozen; closed by thaw
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.hold()
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	c.hold()
	return c.Conn.Write(b)
}

func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.owner.mu.Lock()
		delete(c.owner.conns, c)
		c.owner.mu.Unlock()
	})
	return c.Conn.Close()
}

// hold blocks while the connection is frozen.
func (c *conn) hold() {
	c.mu.Lock()
	freed := c.freed
	c.mu.Unlock()
	if freed == nil {
		return
	}
	select {
	case <-freed:
	case <-c.closed:
	}
}

func (c *conn) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.freed == nil {
		c.freed = make(chan struct{})
	}
}

func (c *conn) thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.freed != nil {
		close(c.freed)
		c.freed = nil
	}
}

// kill resets the connection: no close_notify, no FIN, what a crashed peer looks like.
func (c *conn) kill() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // best effort: without it the client sees an EOF
	}
	_ = c.Close()
}

type connKey struct{}

// withConn lets a handler find the connection its request came over.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		if ours, ok := t.NetConn().(*conn); ok {
			return context.WithValue(ctx, connKey{}, ours)
		}
	}
	return ctx
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}
