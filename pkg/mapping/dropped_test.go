package mapping_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// What was sent and did not come back is named by its path; what came back in another form, or on top, is not.
func TestDropped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent, answer string
		want         []string
	}{
		"the same": {sent: `{parallelism: 2}`, answer: `{parallelism: 2}`},
		"defaulted and added": {
			sent:   `{template: {spec: {containers: [{name: main, image: a}]}}}`,
			answer: `{suspend: false, template: {metadata: {labels: {a: b}}, spec: {dnsPolicy: Default, containers: [{name: main, image: a, imagePullPolicy: Always}]}}}`,
		},
		"normalised": {
			sent:   `{template: {spec: {containers: [{name: main, resources: {limits: {cpu: "0.1", memory: 1024Mi}}}], terminationGracePeriodSeconds: -1}}}`,
			answer: `{template: {spec: {containers: [{name: main, resources: {limits: {cpu: 100m, memory: 1Gi}}}], terminationGracePeriodSeconds: 1}}}`,
		},
		"said, and empty": {
			sent:   `{template: {spec: {affinity: {}, securityContext: {}, containers: [{name: main, resources: {}, args: []}]}}}`,
			answer: `{template: {spec: {containers: [{name: main}]}}}`,
		},
		"top level": {
			sent:   `{parallelism: 1, successPolicy: {rules: [{succeededIndexes: "0"}]}, podReplacementPolicy: Failed, managedBy: a.b/c}`,
			answer: `{parallelism: 1}`,
			want:   []string{"spec.managedBy", "spec.podReplacementPolicy", "spec.successPolicy"},
		},
		"a value that is zero": {sent: `{backoffLimit: 0}`, answer: `{}`, want: []string{"spec.backoffLimit"}},
		"in a container, by its name": {
			sent:   `{template: {spec: {containers: [{name: main, restartPolicy: Always}]}}}`,
			answer: `{template: {spec: {containers: [{name: injected, restartPolicy: Always}, {name: main}]}}}`,
			want:   []string{"spec.template.spec.containers[0].restartPolicy"},
		},
		"a container": {
			sent:   `{template: {spec: {containers: [{name: main}, {name: second}]}}}`,
			answer: `{template: {spec: {containers: [{name: main}]}}}`,
			want:   []string{"spec.template.spec.containers[1]"},
		},
		"items before ours": {
			sent:   `{template: {spec: {containers: [], tolerations: [{key: a, operator: Exists, tolerationSeconds: 5}]}}}`,
			answer: `{template: {spec: {containers: [], tolerations: [{key: b}, {key: a, operator: Exists, tolerationSeconds: 5}]}}}`,
		},
		"in an item without a name": {
			sent:   `{podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: A}]}, {action: FailJob, onExitCodes: {operator: In, values: [1, 2]}}]}}`,
			answer: `{podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: A}]}, {action: FailJob, onExitCodes: {operator: In, values: [1]}}]}}`,
			want:   []string{"spec.podFailurePolicy.rules[1].onExitCodes.values[1]"},
		},
		"an item without a name": {
			sent:   `{podFailurePolicy: {rules: [{action: Ignore}, {action: FailJob}]}}`,
			answer: `{podFailurePolicy: {rules: [{action: Ignore}]}}`,
			want:   []string{"spec.podFailurePolicy.rules[1]"},
		},
		"a key with dots": {
			sent:   `{template: {spec: {containers: [], nodeSelector: {example.com/disk: ssd}}}}`,
			answer: `{template: {spec: {containers: [], nodeSelector: {a: b}}}}`,
			want:   []string{"spec.template.spec.nodeSelector[example.com/disk]"},
		},
	} {
		var sent, answer batchv1.Job
		require.NoError(t, yaml.UnmarshalStrict([]byte("spec: "+c.sent), &sent), name)
		require.NoError(t, yaml.UnmarshalStrict([]byte("spec: "+c.answer), &answer), name)
		got, err := mapping.Dropped(&sent, &answer)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}
