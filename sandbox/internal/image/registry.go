package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Registry is the sandbox's image registry. It stands in for every registry of the world, so the host of a
// reference is not part of what it is asked.
type Registry struct {
	Address string
	client  *http.Client
}

// NewRegistry returns the registry at an address on loopback.
func NewRegistry(address string) *Registry {
	return &Registry{Address: address, client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}}}
}

// ErrNotFound says that the registry has no such image.
var ErrNotFound = errors.New("not in the registry")

// Ready is nil once the registry answers.
func (r *Registry) Ready(ctx context.Context) error {
	_, err := r.do(ctx, http.MethodGet, "/v2/", "", nil, http.StatusOK)
	return err
}

// Push uploads an image.
func (r *Registry) Push(ctx context.Context, image Image) error {
	repository := "/v2/" + image.Reference.Path
	for digest, data := range image.Blobs {
		if _, err := r.do(ctx, http.MethodHead, repository+"/blobs/"+digest, "", nil, http.StatusOK); err == nil {
			continue
		}
		started, err := r.do(ctx, http.MethodPost, repository+"/blobs/uploads/", "", nil, http.StatusAccepted)
		if err != nil {
			return err
		}
		target, err := url.Parse(started.header.Get("Location"))
		if err != nil {
			return err
		}
		query := target.Query()
		query.Set("digest", digest)
		upload := target.Path + "?" + query.Encode()
		if _, err := r.do(ctx, http.MethodPut, upload, "application/octet-stream", data, http.StatusCreated); err != nil {
			return err
		}
	}
	_, err := r.do(ctx, http.MethodPut, repository+"/manifests/"+image.Reference.Tag, manifestType, image.Manifest, http.StatusCreated)
	return err
}

// List returns the names of all images, without hosts.
func (r *Registry) List(ctx context.Context) ([]string, error) {
	var catalog struct{ Repositories []string }
	if err := r.get(ctx, "/v2/_catalog?n=1000", &catalog); err != nil {
		return nil, err
	}
	var names []string
	for _, repository := range catalog.Repositories {
		var tags struct{ Tags []string }
		if err := r.get(ctx, "/v2/"+repository+"/tags/list", &tags); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		for _, tag := range tags.Tags {
			names = append(names, repository+":"+tag)
		}
	}
	return names, nil
}

// Remove deletes an image. Another tag is another image here, so nothing else goes with it.
func (r *Registry) Remove(ctx context.Context, reference Reference) error {
	manifests := "/v2/" + reference.Path + "/manifests/"
	found, err := r.do(ctx, http.MethodHead, manifests+reference.Tag, "", nil, http.StatusOK)
	if err != nil {
		return err
	}
	_, err = r.do(ctx, http.MethodDelete, manifests+found.header.Get("Docker-Content-Digest"), "", nil, http.StatusAccepted)
	return err
}

func (r *Registry) get(ctx context.Context, path string, into any) error {
	a, err := r.do(ctx, http.MethodGet, path, "", nil, http.StatusOK)
	if err != nil {
		return err
	}
	return json.Unmarshal(a.body, into)
}

type answer struct {
	header http.Header
	body   []byte
}

func (r *Registry) do(ctx context.Context, method, path, contentType string, body []byte, want int) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+r.Address+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Accept", manifestType)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("registry: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("registry: %w", err)
	}
	switch response.StatusCode {
	case want:
		return answer{header: response.Header, body: data}, nil
	case http.StatusNotFound:
		return answer{}, fmt.Errorf("%s: %w", path, ErrNotFound)
	default:
		return answer{}, fmt.Errorf("registry: %s %s: %s: %s", method, path, response.Status, data)
	}
}
