package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// doneJob has run; the other Jobs are suspended, which is enough to list them.
const doneJob = "done"

type cluster struct {
	client    kubernetes.Interface
	namespace string
}

func newCluster(kubeconfig string) (*cluster, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &cluster{client: client}, nil
}

func (c *cluster) fill(ctx context.Context, n int) error {
	ns, err := c.client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	c.namespace = ns.Name
	if err := c.create(ctx, job(doneJob, false)); err != nil {
		return err
	}
	var group sync.WaitGroup
	work := make(chan int)
	errs := make(chan error, n)
	for range 8 {
		group.Go(func() {
			for i := range work {
				if err := c.create(ctx, job(fmt.Sprintf("job-%04d", i), true)); err != nil {
					errs <- err
				}
			}
		})
	}
	for i := range n - 1 {
		work <- i
	}
	close(work)
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			done, err := c.client.BatchV1().Jobs(c.namespace).Get(ctx, doneJob, metav1.GetOptions{})
			return err == nil && done.Status.CompletionTime != nil, nil
		})
}

func (c *cluster) create(ctx context.Context, j *batchv1.Job) error {
	_, err := c.client.BatchV1().Jobs(c.namespace).Create(ctx, j, metav1.CreateOptions{})
	return err
}

func (c *cluster) drop(ctx context.Context) {
	if err := c.client.CoreV1().Namespaces().Delete(ctx, c.namespace, metav1.DeleteOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, "bench: namespace", c.namespace, "is left:", err)
	}
}

func job(name string, suspended bool) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			Suspend: &suspended,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox:local", Command: []string{"echo", "done"}}},
			}},
		},
	}
}
