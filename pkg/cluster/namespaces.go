package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespaces lists the names of all namespaces that the caller may see, for completion.
func (c *Client) Namespaces(ctx context.Context) ([]string, error) {
	var names []string
	err := c.pages(ctx, request{verb: "list", resource: "namespaces"}, metav1.ListOptions{},
		func() { names = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.core.Namespaces().List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				names = append(names, list.Items[i].Name)
			}
			return list.Continue, nil
		})
	return names, err
}
