package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CronJob reads one CronJob.
func (c *Client) CronJob(ctx context.Context, namespace, name string) (cronJob *batchv1.CronJob, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "cronjobs", namespace: namespace}, func(ctx context.Context) error {
		cronJob, err = c.batch.CronJobs(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return cronJob, err
}

// CronJobs lists CronJobs; namespace "" is all namespaces.
func (c *Client) CronJobs(ctx context.Context, namespace string) ([]*batchv1.CronJob, error) {
	var all []*batchv1.CronJob
	err := c.pages(ctx, request{verb: "list", resource: "cronjobs", namespace: namespace}, metav1.ListOptions{},
		func() { all = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.batch.CronJobs(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				all = append(all, &list.Items[i])
			}
			return list.Continue, nil
		})
	return all, err
}
