package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"
)

// ServerVersion is the API server's answer about itself. Every authenticated user may ask on a cluster with the usual
// roles.
func (c *Client) ServerVersion(ctx context.Context) (version.Info, error) {
	const path = "/version"
	var info version.Info
	var data []byte
	err := c.retry(ctx, request{verb: "get", resource: path}, func(ctx context.Context) (err error) {
		data, err = c.core.RESTClient().Get().AbsPath(path).Do(ctx).Raw()
		if apierrors.IsForbidden(err) { // no admission on reads: the right is missing
			err = &AccessError{Verb: "get", Resource: path, Err: err}
		}
		return err
	})
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("the answer of %s%s is not a version: %w", c.Host, path, err)
	}
	return info, nil
}
