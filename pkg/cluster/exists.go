package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TryJob creates a Job as a dry run, under a name that no Job has: the server's answer carries its defaults.
func (c *Client) TryJob(ctx context.Context, job *batchv1.Job, free string) (*batchv1.Job, error) {
	try := job.DeepCopy()
	try.Name = free
	var made *batchv1.Job
	err := c.retry(ctx, request{verb: "create", resource: "jobs", namespace: job.Namespace}, func(ctx context.Context) (err error) {
		made, err = c.batch.Jobs(job.Namespace).Create(ctx, try,
			metav1.CreateOptions{FieldManager: manager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry(true)})
		return err
	})
	return made, err
}

// HasSecret tells whether a Secret is there and has a key, "" for any. Its values are read and dropped.
func (c *Client) HasSecret(ctx context.Context, namespace, name, key string) (has bool, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "secrets", namespace: namespace}, func(ctx context.Context) error {
		secret, err := c.core.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			_, has = secret.Data[key]
			has = has || key == ""
		}
		return err
	})
	return has, ignoreNotFound(err)
}

// HasConfigMap tells whether a ConfigMap is there and has a key, "" for any.
func (c *Client) HasConfigMap(ctx context.Context, namespace, name, key string) (has bool, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "configmaps", namespace: namespace}, func(ctx context.Context) error {
		config, err := c.core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			_, text := config.Data[key]
			_, binary := config.BinaryData[key]
			has = text || binary || key == ""
		}
		return err
	})
	return has, ignoreNotFound(err)
}

// HasClaim tells whether a volume claim is there.
func (c *Client) HasClaim(ctx context.Context, namespace, name string) (bool, error) {
	_, err := c.Claim(ctx, namespace, name)
	return err == nil, ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if NotFound(err) {
		return nil
	}
	return err
}
