package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConfigMap reads a ConfigMap.
func (c *Client) ConfigMap(ctx context.Context, namespace, name string) (config *corev1.ConfigMap, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "configmaps", namespace: namespace}, func(ctx context.Context) error {
		config, err = c.core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return config, err
}

// ConfigValues reads the texts of a ConfigMap.
func (c *Client) ConfigValues(ctx context.Context, namespace, name string) (map[string]string, error) {
	config, err := c.ConfigMap(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return config.Data, nil
}

// MakeConfigMap makes a ConfigMap, unless one of its name is there: then it returns that one.
func (c *Client) MakeConfigMap(ctx context.Context, wanted *corev1.ConfigMap) (config *corev1.ConfigMap, err error) {
	const rounds = 3 // it may vanish between "exists" and the look at it
	for range rounds {
		config, err = c.ConfigMap(ctx, wanted.Namespace, wanted.Name)
		if !apierrors.IsNotFound(err) {
			return config, err
		}
		err = c.retry(ctx, request{verb: "create", resource: "configmaps", namespace: wanted.Namespace}, func(ctx context.Context) error {
			config, err = c.core.ConfigMaps(wanted.Namespace).Create(ctx, wanted, metav1.CreateOptions{FieldManager: manager})
			return err
		})
		if !apierrors.IsAlreadyExists(err) {
			return config, err
		}
	}
	return config, err
}

// UpdateConfigMap writes a ConfigMap. Its resourceVersion guards it: whoever wrote it meanwhile makes it a conflict.
func (c *Client) UpdateConfigMap(ctx context.Context, config *corev1.ConfigMap) error {
	return c.retry(ctx, request{verb: "update", resource: "configmaps", namespace: config.Namespace}, func(ctx context.Context) error {
		_, err := c.core.ConfigMaps(config.Namespace).Update(ctx, config, metav1.UpdateOptions{FieldManager: manager})
		return err
	})
}

// DeleteConfigMap deletes the given ConfigMap as it was read, and nothing that it owns: who wrote it meanwhile makes it a
// conflict. Its dependents are taken off it first, so that not even one that came a moment ago goes with it.
func (c *Client) DeleteConfigMap(ctx context.Context, config *corev1.ConfigMap, dryRun bool) error {
	return c.retry(ctx, request{verb: "delete", resource: "configmaps", namespace: config.Namespace}, func(ctx context.Context) error {
		return c.core.ConfigMaps(config.Namespace).Delete(ctx, config.Name, metav1.DeleteOptions{
			Preconditions: asRead(config), PropagationPolicy: new(metav1.DeletePropagationOrphan), DryRun: dry(dryRun),
		})
	})
}

// asRead lets a deletion fail when the object is another one, or was written since it was read.
func asRead(object metav1.Object) *metav1.Preconditions {
	return &metav1.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())}
}

// ConfigMaps lists ConfigMaps by label selector, without their texts; namespace "" is all namespaces.
func (c *Client) ConfigMaps(ctx context.Context, namespace, selector string) ([]*corev1.ConfigMap, error) {
	var all []*corev1.ConfigMap
	err := c.pages(ctx, request{verb: "list", resource: "configmaps", namespace: namespace}, metav1.ListOptions{LabelSelector: selector},
		func() { all = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.core.ConfigMaps(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				all = append(all, &corev1.ConfigMap{ObjectMeta: list.Items[i].ObjectMeta})
			}
			return list.Continue, nil
		})
	return all, err
}
