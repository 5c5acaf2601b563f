// Package debug is what a running watch serves about itself over loopback HTTP: /healthz, /metrics and /debug/work-status.
//
// It shows what the loop knows and judges nothing. Nothing that it serves writes, it listens on loopback addresses only, and it
// answers only requests that name a loopback host, so that no web page can read it through a name of its own
// (TestServerAnswersLoopbackOnly).
package debug

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// Source is the loop as far as it is shown.
type Source interface {
	Rows() []render.Row // the runs in scope, judged, in order of their names
	Synced() bool       // everything was read once
	Acts() bool         // it is the one that acts
	Queued() int        // passes that are due
	Lost() time.Time    // since when the API server does not answer, zero when it does
}

// Server serves one Source.
type Server struct {
	source   Source
	metrics  *metrics
	http     *http.Server
	listener net.Listener

	mu      sync.Mutex
	changes []render.WatchEvent // the newest last
	last    []bool              // how the last passes went
	delay   time.Duration       // of the last pass
	retry   time.Time           // when a pass failed last
}

const (
	changesKept = 200
	passesKept  = 10
	readLimit   = 10 * time.Second
)

// NewServer prepares a server.
func NewServer(source Source) *Server {
	s := &Server{source: source, metrics: newMetrics(source)}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /healthz", s.health)
	routes.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	routes.HandleFunc("GET /debug/work-status", s.status)
	s.http = &http.Server{Handler: loopbackOnly(routes), ReadTimeout: readLimit, WriteTimeout: readLimit}
	return s
}

// Listen opens the address and returns it: the port may have been 0.
func (s *Server) Listen(ctx context.Context, address string) (string, error) {
	if err := CheckAddress(address); err != nil {
		return "", err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen at %s: %w", address, err)
	}
	s.listener = listener
	return listener.Addr().String(), nil
}

// Serve answers at the address of Listen until Close.
func (s *Server) Serve() {
	go func() { _ = s.http.Serve(s.listener) }() // it always ends with an error: that of Close
}

// Close ends it.
func (s *Server) Close() {
	_ = s.http.Close() // nothing is lost with what it has to say
	_ = s.listener.Close()
}

// errLoopback is why an address is refused.
var errLoopback = errors.New("only loopback addresses are served: give one like 127.0.0.1:9090, or 127.0.0.1:0 for a free port")

// CheckAddress tells whether an address may be served.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !loopback(host) {
		return errLoopback
	}
	return nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// loopbackOnly refuses requests that were sent to another name than the loopback's.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !loopback(host) {
			http.Error(w, "this is served to loopback hosts only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Passed notes how a pass went.
func (s *Server) Passed(at time.Time, delay, took time.Duration, err error) {
	s.metrics.passed(delay, took, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = delay
	s.last = lastOf(append(s.last, err == nil), passesKept)
	if err != nil {
		s.retry = at
	}
}

// Did counts something that was done.
func (s *Server) Did(err error) { s.metrics.actions.WithLabelValues(resultOf(err)).Inc() }

// Changed keeps a change.
func (s *Server) Changed(e render.WatchEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = lastOf(append(s.changes, e), changesKept)
}

// lastOf is the end of a list, at most n of it.
func lastOf[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return append([]T(nil), list[len(list)-n:]...)
}

// health is 200 when everything in scope was read and the API server answers.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	switch lost := s.source.Lost(); {
	case !s.source.Synced():
		http.Error(w, "not everything was read yet", http.StatusServiceUnavailable)
	case !lost.IsZero():
		http.Error(w, "the API server does not answer since "+lost.UTC().Format(time.RFC3339), http.StatusServiceUnavailable)
	default:
		fmt.Fprintln(w, "ok")
	}
}

// Status is the answer of /debug/work-status.
type Status struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"` // WatchStatus
	Synced     bool                `json:"synced"`
	Acts       bool                `json:"acts"` // false: another watch does, or it only looks on
	Queued     int                 `json:"queued"`
	Figures    render.Figures      `json:"figures"`
	Items      []render.Item       `json:"items"`
	Changes    []render.WatchEvent `json:"changes"`
}

// status answers with the runs of ?name= and ?namespace=, or all, and their last changes.
func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	name, space := r.URL.Query().Get("name"), r.URL.Query().Get("namespace")
	wanted := func(i render.Item) bool {
		return (name == "" || i.Name == name || i.Work == name) && (space == "" || i.Namespace == space)
	}
	answer := Status{
		APIVersion: render.OutputVersion, Kind: "WatchStatus", Synced: s.source.Synced(), Acts: s.source.Acts(), Queued: s.source.Queued(),
		Items: []render.Item{}, Changes: []render.WatchEvent{},
	}
	for _, item := range render.RunList(s.source.Rows(), 0, "").Items {
		if wanted(item) {
			answer.Items = append(answer.Items, item)
		}
	}
	s.mu.Lock()
	for _, change := range s.changes {
		if wanted(change.Item) {
			answer.Changes = append(answer.Changes, change)
		}
	}
	answer.Figures = s.figures()
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a reader that is gone wants no answer
}

// figures are measured here; s.mu must be held.
func (s *Server) figures() render.Figures {
	f := render.Figures{LastRetry: s.retry}
	if len(s.last) == 0 {
		return f
	}
	good := 0
	for _, ok := range s.last {
		if ok {
			good++
		}
	}
	delay, rate := s.delay.Seconds(), float64(good)/float64(len(s.last))
	f.SyncDelaySeconds, f.SuccessRate = &delay, &rate
	return f
}
