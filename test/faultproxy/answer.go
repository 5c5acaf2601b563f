package faultproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

const protobufType = runtime.ContentTypeProtobuf

// writeStatus answers like the API server does when it refuses.
func writeStatus(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	status := statusFor(a.Code, a.Reason, a.Message)
	if a.RetryAfter > 0 {
		seconds := int32((a.RetryAfter + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		status.Details = &metav1.StatusDetails{RetryAfterSeconds: seconds}
	}
	data, err := json.Marshal(status)
	if err != nil { // a struct of strings and numbers always marshals
		data = []byte(`{}`)
	}
	w.WriteHeader(a.Code)
	_, _ = w.Write(data) // a client that has left needs no answer
}

// watchError answers a watch with 200 and one ERROR event, in the encoding the client asked for.
func (e *exchange) watchError(a WatchError) {
	contentType := runtime.ContentTypeJSON
	if strings.Contains(e.r.Header.Get("Accept"), protobufType) {
		contentType = protobufType + ";stream=watch"
	}
	e.w.Header().Set("Content-Type", contentType)
	e.note(func(r *Request) { r.Status = http.StatusOK })
	e.w.WriteHeader(http.StatusOK)
	e.writeEvent(a)
}

// writeEvent puts one ERROR event into the watch stream that has begun.
func (e *exchange) writeEvent(a WatchError) {
	var buf bytes.Buffer
	if err := encodeEvent(&buf, e.w.Header().Get("Content-Type"), statusFor(a.code(), "", "")); err != nil {
		e.note(func(r *Request) { r.Fault = join(r.Fault, "ERROR event not sent: "+err.Error()) })
		e.cut(Stream)
	}
	e.write(buf.Bytes())
}

func encodeEvent(w io.Writer, contentType string, status *metav1.Status) error {
	mediaType, _, _ := strings.Cut(contentType, ";")
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok || info.StreamSerializer == nil {
		return fmt.Errorf("no watch encoding for %q", contentType)
	}
	frame := info.StreamSerializer.Framer.NewFrameWriter(w)
	encoder := restwatch.NewEncoder(streaming.NewEncoder(frame, info.StreamSerializer.Serializer), info.Serializer)
	return encoder.Encode(&watch.Event{Type: watch.Error, Object: status})
}

func statusFor(code int, reason, message string) *metav1.Status {
	usual := map[int]struct {
		reason  metav1.StatusReason
		message string
	}{
		http.StatusUnauthorized:        {metav1.StatusReasonUnauthorized, "Unauthorized"},
		http.StatusForbidden:           {metav1.StatusReasonForbidden, "forbidden by the fault proxy"},
		http.StatusNotFound:            {metav1.StatusReasonNotFound, "not found, says the fault proxy"},
		http.StatusConflict:            {metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again"},
		http.StatusGone:                {metav1.StatusReasonExpired, "too old resource version: 1 (2)"},
		http.StatusTooManyRequests:     {metav1.StatusReasonTooManyRequests, "too many requests, please try again later"},
		http.StatusInternalServerError: {metav1.StatusReasonInternalError, "Internal error occurred: fault proxy"},
		http.StatusServiceUnavailable:  {metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request"},
		http.StatusGatewayTimeout:      {metav1.StatusReasonTimeout, "request did not complete within the allotted timeout"},
	}[code]
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: usual.reason, Message: usual.message,
	}
	if reason != "" {
		status.Reason = metav1.StatusReason(reason)
	}
	if message != "" {
		status.Message = message
	}
	if status.Message == "" {
		status.Message = http.StatusText(code)
	}
	return status
}
