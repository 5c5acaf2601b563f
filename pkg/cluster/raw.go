package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// rawLimit bounds an answer that is read by its path, in bytes. A longer one is an error, not a part.
const rawLimit = 16 << 20

// raw reads what the API server answers under a path, at most limit bytes.
func (c *Client) raw(ctx context.Context, r request, path string, limit int64) (data []byte, err error) {
	err = c.retry(ctx, r, func(ctx context.Context) error {
		body, err := c.core.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Stream(ctx)
		if err != nil {
			return err
		}
		defer body.Close() //nolint:errcheck // read only
		if data, err = io.ReadAll(io.LimitReader(body, limit+1)); err != nil {
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes", path, limit)
	}
	return data, nil
}

// TaskStatus reads what a task serves about itself at a port and path of its Pod, through the API server. It needs the
// right to get pods/proxy. The answer is bounded to limit bytes.
func (c *Client) TaskStatus(ctx context.Context, pod *corev1.Pod, port, path string, limit int64) ([]byte, error) {
	r := request{verb: "get", resource: "pods", subresource: "proxy", namespace: pod.Namespace}
	return c.raw(ctx, r, fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%s/proxy/%s", pod.Namespace, pod.Name, port, path), limit)
}

// Usage is what a container uses now.
type Usage struct {
	Pod, Container string
	CPU            int64 // thousandths of a core
	Memory         int64 // bytes, the working set: what counts against the limit
}

// NodeUsage reads what the containers of a node use from its kubelet's summary, through the API server
// (https://kubernetes.io/docs/reference/instrumentation/node-metrics). It needs the right to get nodes/proxy.
func (c *Client) NodeUsage(ctx context.Context, node, namespace string) ([]Usage, error) {
	r := request{verb: "get", resource: "nodes", subresource: "proxy"}
	data, err := c.raw(ctx, r, "/api/v1/nodes/"+node+"/proxy/stats/summary", rawLimit)
	if err != nil {
		return nil, err
	}
	var summary struct {
		Pods []struct {
			Ref        struct{ Name, Namespace string } `json:"podRef"`
			Containers []struct {
				Name   string
				CPU    struct{ UsageNanoCores int64 }
				Memory struct{ WorkingSetBytes int64 }
			}
		}
	}
	if err := json.Unmarshal(data, &summary); err != nil {
		return nil, fmt.Errorf("read the summary of node %s: %w", node, err)
	}
	const nanoPerMilli = 1_000_000
	var all []Usage
	for _, pod := range summary.Pods {
		for _, container := range pod.Containers {
			if pod.Ref.Namespace == namespace {
				all = append(all, Usage{
					Pod: pod.Ref.Name, Container: container.Name, CPU: container.CPU.UsageNanoCores / nanoPerMilli, Memory: container.Memory.WorkingSetBytes,
				})
			}
		}
	}
	return all, nil
}

// UsageOf reads what the containers of running Pods use: from the metrics API where the cluster has one
// (https://github.com/kubernetes-sigs/metrics-server), else from the kubelets of their nodes.
func (c *Client) UsageOf(ctx context.Context, namespace string, pods []*corev1.Pod) ([]Usage, error) {
	all, err := c.podMetrics(ctx, namespace)
	if err == nil && len(all) > 0 {
		return ofPods(all, pods), nil
	}
	all = nil
	seen := map[string]bool{}
	for _, pod := range pods {
		node := pod.Spec.NodeName
		if node == "" || seen[node] {
			continue
		}
		seen[node] = true
		used, err := c.NodeUsage(ctx, node, namespace)
		if err != nil {
			return nil, err
		}
		all = append(all, used...)
	}
	return ofPods(all, pods), nil
}

func ofPods(all []Usage, pods []*corev1.Pod) []Usage {
	return slices.DeleteFunc(all, func(u Usage) bool {
		return !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == u.Pod })
	})
}

func (c *Client) podMetrics(ctx context.Context, namespace string) ([]Usage, error) {
	data, err := c.raw(ctx, request{verb: "list", resource: "pods", namespace: namespace}, "/apis/metrics.k8s.io/v1beta1/namespaces/"+namespace+"/pods", rawLimit)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata   struct{ Name string }
			Containers []struct {
				Name  string
				Usage corev1.ResourceList
			}
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read the metrics of namespace %s: %w", namespace, err)
	}
	var all []Usage
	for _, pod := range list.Items {
		for _, container := range pod.Containers {
			all = append(all, Usage{
				Pod: pod.Metadata.Name, Container: container.Name,
				CPU: container.Usage.Cpu().MilliValue(), Memory: container.Usage.Memory().Value(),
			})
		}
	}
	return all, nil
}
