package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// LogSource is one container of one Pod.
type LogSource struct {
	Pod       *corev1.Pod // as it was when its output was first read
	Container string
}

// LogFollower follows the output of all Pods that an Observer sees.
type LogFollower struct {
	Client     *Client
	Observer   *Observer
	Want       func(pod *corev1.Pod, container string) bool // nil wants all
	Options    LogOptions                                   // for the first read of each container
	MaxStreams int                                          // open at once; the others wait for a free one
	Found      func(LogSource)                              // before any line of it, and of those found with it; nil is fine
	Emit       func(LogSource, LogLine)                     // one line at a time
	Waiting    func(streams int)                            // more containers than streams; once
}

const (
	// silence is how long an open stream of a running container may bring nothing before it is opened anew: the kubelet
	// ends some streams at a log rotation without an error (kubernetes/kubernetes#115701).
	silence = 30 * time.Second
	// retryLog is the pause before a stream that broke is opened again.
	retryLog = 500 * time.Millisecond
)

// Follow runs until ctx ends, or until finish is closed and what every container wrote so far was read.
func (f *LogFollower) Follow(ctx context.Context, finish <-chan struct{}) {
	w := &following{LogFollower: f, finish: finish, open: make(chan struct{}, max(f.MaxStreams, 1)), known: map[string]bool{}}
	defer w.streams.Wait()
	changed := f.Observer.Subscribe()
	for {
		w.start(ctx)
		select {
		case <-ctx.Done():
			return
		case <-finish:
			w.start(ctx)
			return
		case <-changed:
		}
	}
}

type following struct {
	*LogFollower
	finish  <-chan struct{}
	open    chan struct{} // a token a stream
	streams sync.WaitGroup
	known   map[string]bool
	told    bool
	mu      sync.Mutex // around Emit
}

// start begins a stream for each container that has started and has none yet.
func (w *following) start(ctx context.Context) {
	found := w.find()
	w.mu.Lock()
	for _, source := range found {
		if w.Found != nil {
			w.Found(source)
		}
	}
	w.mu.Unlock()
	if len(w.known) > cap(w.open) && !w.told && w.Waiting != nil {
		w.told = true
		w.Waiting(cap(w.open))
	}
	for _, source := range found {
		s := &stream{following: w, source: source}
		w.streams.Go(func() {
			defer w.Client.caught()
			s.run(ctx)
		})
	}
}

func (w *following) find() []LogSource {
	var found []LogSource
	for _, run := range w.Observer.Runs() {
		for _, pod := range run.Pods {
			for _, st := range statuses(pod) {
				key := string(pod.UID) + "/" + st.Name
				if w.known[key] || !hasStarted(st) || w.Want != nil && !w.Want(pod, st.Name) {
					continue
				}
				w.known[key] = true
				found = append(found, LogSource{Pod: pod, Container: st.Name})
			}
		}
	}
	return found
}

func statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

func hasStarted(st corev1.ContainerStatus) bool {
	return st.State.Running != nil || st.State.Terminated != nil || st.RestartCount > 0
}

// stream is the output of one container over all its connections.
type stream struct {
	*following
	source LogSource
	at     time.Time // stamp of the newest line handed on
	same   int       // how many lines with that stamp were handed on
}

// run reads until the container has ended and its last line was handed on. The end of a connection is never the end of
// the container: only its status is.
func (s *stream) run(ctx context.Context) {
	select {
	case s.open <- struct{}{}:
		defer func() { <-s.open }()
	case <-ctx.Done():
		return
	}
	for {
		over := s.over() // asked before reading: what was written until then is in the answer
		err := s.read(ctx, !over)
		var unreachable *UnreachableError
		switch {
		case ctx.Err() != nil, final(err), over && !errors.As(err, &unreachable):
			return
		}
		s.pause(ctx)
	}
}

// final tells of an answer that will not change: the Pod or its output is gone, or there is no right to read it.
func final(err error) bool {
	var gone *LogsGoneError
	var access *AccessError
	return apierrors.IsNotFound(err) || errors.As(err, &gone) || errors.As(err, &access)
}

// pause is the time between two connections; it ends early when the following is to finish.
func (s *stream) pause(ctx context.Context) {
	timer := time.NewTimer(retryLog)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.finish:
	case <-timer.C:
	}
}

// over tells whether nothing more will come: the container ended and will not run again, its Pod is gone, or the whole
// following is to finish.
func (s *stream) over() bool {
	select {
	case <-s.finish:
		return true
	default:
	}
	pod := s.Observer.pod(s.source.Pod.UID)
	if pod == nil {
		return true
	}
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	for _, st := range statuses(pod) {
		if st.Name == s.source.Container && st.State.Terminated == nil {
			return false
		}
	}
	return ended || pod.Spec.RestartPolicy == corev1.RestartPolicyNever
}

// read opens one connection and hands on what is new. Following ends when the connection does, when it was silent for
// too long, or when the following is to finish.
func (s *stream) read(ctx context.Context, follow bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := s.Options
	if !s.at.IsZero() {
		options.Tail, options.Since = nil, s.at
	}
	skip := s.same
	take := func(l LogLine) { skip = s.take(l, skip) }
	pod := s.source.Pod
	if !follow {
		return s.Client.ReadLog(ctx, pod.Namespace, pod.Name, s.source.Container, options, take)
	}
	body, err := s.Client.core.Pods(pod.Namespace).GetLogs(pod.Name, podLogOptions(s.source.Container, options, true)).Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // read only
	idle := time.AfterFunc(silence, cancel)
	defer idle.Stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-s.finish:
			cancel()
		case <-ended:
		}
	}()
	return readLines(body, func(l LogLine) {
		idle.Reset(silence)
		if runtimeMessage.MatchString(l.Text) && l.Time.IsZero() {
			return
		}
		take(l)
	})
}

// take hands on a line that is new. A connection that goes on from a stamp brings the lines of that second again: those
// before the stamp are known, and so are the first skip lines of exactly that stamp.
func (s *stream) take(l LogLine, skip int) int {
	switch {
	case l.Time.IsZero(): // a line that the runtime did not stamp cannot be told from a repeated one
	case l.Time.Before(s.at):
		return skip
	case l.Time.Equal(s.at) && skip > 0:
		return skip - 1
	case l.Time.Equal(s.at):
		s.same++
	default:
		s.at, s.same = l.Time, 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Emit(s.source, l)
	return skip
}

// pod is the newest state of a Pod, nil when it is gone.
func (o *Observer) pod(uid types.UID) *corev1.Pod {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pods[uid]
}
