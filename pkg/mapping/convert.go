package mapping

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// converted is what rides along with a document that another version cannot say as it was: the spec in that version, and
// the hash of the spec that it was converted to. When the hash differs somebody has edited the document, and what rides
// along is ignored.
type converted struct {
	Version string          `json:"version"` // apiVersion of Spec
	Hash    string          `json:"hash"`
	Spec    json.RawMessage `json:"spec"`
}

// FromV1alpha1 converts a document to the hub version. ignored tells that it carried an original of itself that was ignored,
// because the document was edited since.
func FromV1alpha1(a *v1alpha1.Work) (w *v1beta2.Work, ignored bool, err error) {
	w = &v1beta2.Work{ObjectMeta: *a.ObjectMeta.DeepCopy()}
	original, ignored, err := takeOriginal(&w.Annotations, v1beta2.GroupVersion.String(), a.Spec)
	if err != nil {
		return nil, false, err
	}
	w.Spec = up(a.Spec)
	if original != nil {
		var spec v1beta2.WorkSpec
		if err := json.Unmarshal(original, &spec); err == nil {
			w.Spec = spec
		}
	}
	w.APIVersion, w.Kind = v1beta2.GroupVersion.String(), v1beta2.Kind
	if same, err := equal(down(w.Spec), a.Spec); err != nil || same {
		return w, ignored, err
	}
	return w, ignored, keepOriginal(&w.Annotations, v1alpha1.GroupVersion.String(), a.Spec, w.Spec)
}

// ToV1alpha1 converts a hub document to the first version.
func ToV1alpha1(w *v1beta2.Work) (a *v1alpha1.Work, ignored bool, err error) {
	a = &v1alpha1.Work{ObjectMeta: *w.ObjectMeta.DeepCopy()}
	original, ignored, err := takeOriginal(&a.Annotations, v1alpha1.GroupVersion.String(), w.Spec)
	if err != nil {
		return nil, false, err
	}
	a.Spec = down(w.Spec)
	if original != nil {
		var spec v1alpha1.WorkSpec
		if err := json.Unmarshal(original, &spec); err == nil {
			a.Spec = spec
		}
	}
	a.APIVersion, a.Kind = v1alpha1.GroupVersion.String(), v1beta2.Kind
	if same, err := equal(up(a.Spec), w.Spec); err != nil || same {
		return a, ignored, err
	}
	return a, ignored, keepOriginal(&a.Annotations, v1beta2.GroupVersion.String(), w.Spec, a.Spec)
}

// up says what a v1alpha1 spec says, in the hub version.
func up(a v1alpha1.WorkSpec) v1beta2.WorkSpec {
	w := v1beta2.WorkSpec{
		JobSpec: *a.JobSpec.DeepCopy(), MaxRetries: a.MaxRetries, RetryFactor: a.RetryFactor,
		Coordination: a.Coordination, Profile: a.Profile, Tenant: a.Tenant, Debug: a.Debug,
	}
	if r := a.RetryStrategy; r != nil {
		if r.Limit != nil {
			w.MaxRetries = r.Limit
		}
		if len(r.OnExitCodes) > 0 && w.PodFailurePolicy == nil {
			w.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{othersFail(r.OnExitCodes)}}
		}
	}
	if w.MaxRetries != nil && w.RetryFactor == "" {
		w.RetryFactor = v1alpha1.DefaultRetryFactor
	}
	if a.Priority != nil {
		w.SchedulingPolicy = &v1beta2.SchedulingPolicy{Priority: a.Priority}
	}
	if ttl := w.TTLSecondsAfterFinished; ttl != nil {
		w.CleanupPolicy = &v1beta2.CleanupPolicy{TTLSecondsAfterFinished: ttl}
		w.TTLSecondsAfterFinished = nil
	}
	return w
}

// othersFail is the failure rule that ends the Job after any code but those, which the API wants sorted and once each.
func othersFail(codes []int32) batchv1.PodFailurePolicyRule {
	sorted := slices.Clone(codes)
	slices.Sort(sorted)
	return batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: slices.Compact(sorted),
		},
	}
}

// down says what a hub spec says in v1alpha1, as far as that can.
func down(w v1beta2.WorkSpec) v1alpha1.WorkSpec {
	a := v1alpha1.WorkSpec{
		JobSpec: *w.JobSpec.DeepCopy(), MaxRetries: w.MaxRetries, RetryFactor: w.RetryFactor,
		Coordination: w.Coordination, Profile: w.Profile, Tenant: w.Tenant, Debug: w.Debug,
	}
	if a.MaxRetries != nil {
		switch a.RetryFactor {
		case "":
			a.RetryFactor = v1beta2.DefaultRetryFactor
		case v1alpha1.DefaultRetryFactor:
			a.RetryFactor = ""
		}
	}
	if p := w.SchedulingPolicy; p != nil {
		a.Priority = p.Priority
		job := &batchv1.Job{Spec: batchv1.JobSpec{Template: a.Template}}
		mapScheduling(job, p)
		a.Template = job.Spec.Template
	}
	if p := w.CleanupPolicy; p != nil && p.TTLSecondsAfterFinished != nil {
		a.TTLSecondsAfterFinished = p.TTLSecondsAfterFinished
	}
	return a
}

// equal compares two specs by what they say in JSON: an empty list and none are the same.
func equal[T any](a, b T) (bool, error) {
	x, err := canonicalSpec(a)
	if err != nil {
		return false, err
	}
	y, err := canonicalSpec(b)
	return bytes.Equal(x, y), err
}

func canonicalSpec(spec any) ([]byte, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return json.Marshal(prune(tree))
}

func specHash(spec any) (string, error) {
	data, err := canonicalSpec(spec)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), nil
}

// keepOriginal lets the spec that a document was made from ride along with it.
func keepOriginal(annotations *map[string]string, version string, original, made any) error {
	spec, err := canonicalSpec(original)
	if err != nil {
		return err
	}
	hash, err := specHash(made)
	if err != nil {
		return err
	}
	data, err := json.Marshal(converted{Version: version, Hash: hash, Spec: spec})
	if err != nil {
		return fmt.Errorf("encode document: %w", err)
	}
	*annotations = merged(*annotations, map[string]string{work.AnnotationConverted: string(data)})
	return nil
}

// takeOriginal takes the annotation off, and returns the original in it when it is of that version and the document is still
// the one that was made from it.
func takeOriginal(annotations *map[string]string, version string, made any) (original []byte, ignored bool, err error) {
	text, there := (*annotations)[work.AnnotationConverted]
	if !there {
		return nil, false, nil
	}
	rest := maps.Clone(*annotations)
	delete(rest, work.AnnotationConverted)
	*annotations = orNil(rest)
	c, readable := readConverted(text)
	if !readable || c.Version != version {
		return nil, true, nil
	}
	hash, err := specHash(made)
	if err != nil {
		return nil, false, err
	}
	if hash != c.Hash {
		return nil, true, nil
	}
	return c.Spec, false, nil
}

func readConverted(text string) (c converted, readable bool) {
	err := json.Unmarshal([]byte(text), &c)
	return c, err == nil
}

// strategy checks what v1alpha1 alone has: retryStrategy says what maxRetries and podFailurePolicy say.
func (v *validator) strategy() {
	a := v.alpha
	if a == nil || a.Spec.RetryStrategy == nil {
		return
	}
	const path = "spec.retryStrategy"
	for name, beside := range map[string]bool{"spec.maxRetries": a.Spec.MaxRetries != nil, "spec.podFailurePolicy": a.Spec.PodFailurePolicy != nil} {
		if beside {
			v.add(path, "retryStrategy and "+name+v.lineOf(name)+" both say when to retry", "keep one")
		}
	}
	if policy := a.Spec.Template.Spec.RestartPolicy; len(a.Spec.RetryStrategy.OnExitCodes) > 0 && policy != "" && policy != corev1.RestartPolicyNever {
		v.add(path+".onExitCodes", "exit codes are looked at only with restartPolicy Never, and "+restartPath+v.lineOf(restartPath)+" is "+string(policy), "use Never, or take onExitCodes out")
	}
	if slices.Contains(a.Spec.RetryStrategy.OnExitCodes, 0) {
		v.add(path+".onExitCodes", "0 is success, after which nothing is tried again", "take it out")
	}
}
