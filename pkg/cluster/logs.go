package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LogLine is one whole line of a container's output.
type LogLine struct {
	Time time.Time // when the runtime took it
	Text string    // without its end; as the program wrote it, so not safe for a terminal
}

// LogOptions narrow what is read. The zero value is everything.
type LogOptions struct {
	Tail     *int64    // only so many lines from the end
	Since    time.Time // only what is not older
	Previous bool      // of the container's run before the current one
}

// LogsGoneError says that the node has no output of a container any more.
type LogsGoneError struct{ Pod, Container string }

func (e *LogsGoneError) Error() string {
	return fmt.Sprintf("the node no longer has the logs of %s/%s", e.Pod, e.Container)
}

const (
	// maxLine bounds one line, as in other log readers of the field; the rest of a longer one is dropped and marked.
	maxLine = 1 << 20
	tailFor = 3 * time.Second // a tail only explains; nothing may wait for it long
)

// LogTail reads the last lines of a container's output, within a few seconds.
func (c *Client) LogTail(ctx context.Context, namespace, pod, container string, lines int64, previous bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, tailFor)
	defer cancel()
	var tail []string
	err := c.ReadLog(ctx, namespace, pod, container, LogOptions{Tail: &lines, Previous: previous}, func(l LogLine) { tail = append(tail, l.Text) })
	return tail, err
}

// ReadLog reads a container's output as far as it is there and hands on each line. A node that lost the output is a
// *LogsGoneError.
func (c *Client) ReadLog(ctx context.Context, namespace, pod, container string, o LogOptions, emit func(LogLine)) error {
	var body io.ReadCloser
	err := c.retry(ctx, logRequest(namespace), func(ctx context.Context) (err error) {
		body, err = c.core.Pods(namespace).GetLogs(pod, podLogOptions(container, o, false)).Stream(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // read only
	var first *LogLine
	err = readLines(body, func(l LogLine) {
		if first == nil && l.Time.IsZero() && runtimeMessage.MatchString(l.Text) {
			first = &l
			return
		}
		emit(l)
	})
	if first != nil {
		return &LogsGoneError{Pod: pod, Container: container}
	}
	return err
}

// runtimeMessage is what the kubelet answers with status 200 in place of output that the runtime has lost
// (kubernetes/kubernetes#98236).
var runtimeMessage = regexp.MustCompile(`^unable to retrieve container logs for [a-z0-9-]+://[0-9a-f]+\s*$`)

func logRequest(namespace string) request {
	return request{verb: "get", resource: "pods", subresource: "log", namespace: namespace}
}

// podLogOptions always asks for timestamps: they are what a broken stream goes on from.
func podLogOptions(container string, o LogOptions, follow bool) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: container, Timestamps: true, TailLines: o.Tail, Previous: o.Previous, Follow: follow}
	if !o.Since.IsZero() {
		since := metav1.NewTime(o.Since)
		options.SinceTime = &since
	}
	return options
}

// readLines cuts a stream into whole lines. A last line without an end counts at the end of the stream.
func readLines(r io.Reader, emit func(LogLine)) error {
	buffered := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	cut := false
	for {
		part, err := buffered.ReadSlice('\n')
		if room := maxLine - len(line); len(part) > room {
			part, cut = part[:max(room, 0)], true
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			emit(parseLine(line, cut))
			line, cut = line[:0], false
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// parseLine takes the runtime's timestamp off a line.
func parseLine(line []byte, cut bool) LogLine {
	text := strings.TrimSuffix(string(bytes.TrimRight(line, "\n")), "\r")
	if cut {
		text += " … (line cut at 1 MiB)"
	}
	stamp, rest, found := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return LogLine{Text: text}
	}
	if !found {
		rest = ""
	}
	return LogLine{Time: at, Text: rest}
}
