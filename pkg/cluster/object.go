package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object reads an object of any kind, as JSON decodes it. Only the one group-version that is named is discovered. A kind
// that the server does not know is an error of its own.
func (c *Client) Object(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
	resource, namespaced, err := c.resourceOf(ctx, apiVersion, kind)
	if err != nil {
		return nil, err
	}
	path := apiRoot(apiVersion)
	if namespaced {
		path += "/namespaces/" + namespace
	}
	data, err := c.raw(ctx, request{verb: "get", group: groupIn(apiVersion), resource: resource, namespace: namespace}, path+"/"+resource+"/"+name, rawLimit)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, name, err)
	}
	return object, nil
}

// UnknownKindError says that the server has no such kind.
type UnknownKindError struct{ APIVersion, Kind string }

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("the API server has no kind %s in %s", e.Kind, e.APIVersion)
}

// resourceOf discovers what a kind is called in paths, and whether its objects are in namespaces.
func (c *Client) resourceOf(ctx context.Context, apiVersion, kind string) (resource string, namespaced bool, err error) {
	data, err := c.raw(ctx, request{verb: "get", resource: apiRoot(apiVersion)}, apiRoot(apiVersion), rawLimit)
	if NotFound(err) {
		return "", false, &UnknownKindError{APIVersion: apiVersion, Kind: kind}
	}
	if err != nil {
		return "", false, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(data, &list); err != nil {
		return "", false, fmt.Errorf("read the kinds of %s: %w", apiVersion, err)
	}
	for _, r := range list.APIResources {
		if strings.EqualFold(r.Kind, kind) && !strings.Contains(r.Name, "/") {
			return r.Name, r.Namespaced, nil
		}
	}
	return "", false, &UnknownKindError{APIVersion: apiVersion, Kind: kind}
}

// MayBlock tells whether the caller may set the finalizers of a kind's objects, which an owner reference with
// blockOwnerDeletion needs on some servers (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers,
// OwnerReferencesPermissionEnforcement).
func (c *Client) MayBlock(ctx context.Context, apiVersion, kind, namespace string) (bool, error) {
	resource, _, err := c.resourceOf(ctx, apiVersion, kind)
	if err != nil {
		return false, err
	}
	return !c.mayNot(ctx, request{verb: "update", group: groupIn(apiVersion), resource: resource, subresource: "finalizers", namespace: namespace}), nil
}

func groupIn(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ""
	}
	return gv.Group
}

func apiRoot(apiVersion string) string {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err == nil && gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + apiVersion
}
