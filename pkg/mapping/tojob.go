package mapping

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// MaxAnnotationBytes is what all annotations of a new Job may have together: the API's 256 KiB less 16 KiB, so that a
// later pause still fits (k8s.io/apimachinery/pkg/api/validation, TotalAnnotationSizeLimitB).
const MaxAnnotationBytes = (256 - 16) << 10

// Injection is what a submit adds to a document: nothing of it is part of the spec hash.
type Injection struct {
	Name        string // of the Work, where the document has only a generateName
	Namespace   string // where the document names none
	SubmitID    string
	SubmittedBy string // user name, "" when not known
	Run         int    // from 1
	TraceParent string // W3C trace context of the caller
	TraceState  string
	Now         time.Time // for the since of a hold

	Waiting []work.Dependency      // what it waits for, with the runs that are meant; nil: as the document says it
	Owner   *metav1.OwnerReference // the object that spec.owner means
	Profile *Profile               // what spec.profile names
}

// ToJob maps a hub document to the Job that runs it. The document stays as it is; errors are about what only shows when
// the Job is made: the size of its annotations and the product maxRetries × retryFactor.
func ToJob(w *v1beta2.Work, in Injection) (*batchv1.Job, error) {
	doc := w.DeepCopy()
	v1beta2.SetDefaults(doc)
	doc.Spec.ConcurrencyGroup = GroupOf(w)
	doc.Name, doc.Namespace = cmp.Or(doc.Name, in.Name), cmp.Or(doc.Namespace, in.Namespace)
	job := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: RunName(doc.Name, in.Run), Namespace: doc.Namespace, Finalizers: doc.Finalizers, OwnerReferences: doc.OwnerReferences,
			Labels: maps.Clone(doc.Labels), Annotations: maps.Clone(doc.Annotations),
		},
		Spec: doc.Spec.JobSpec,
	}
	if err := mapRetries(&job.Spec, doc.Spec); err != nil {
		return nil, err
	}
	cleanup(job, doc.Spec.CleanupPolicy)
	mapScheduling(job, doc.Spec.SchedulingPolicy)
	annotate(job, doc, in)
	if err := in.Profile.apply(job, doc.Spec.Profile); err != nil {
		return nil, err
	}
	if err := hold(job, doc, in); err != nil {
		return nil, err
	}
	injectInputs(job, doc)
	if in.Owner != nil {
		job.OwnerReferences = append(slices.Clone(job.OwnerReferences), *in.Owner)
	}
	if err := record(job, w); err != nil {
		return nil, err
	}
	injectTrace(job, in)
	return job, nil
}

// RunName is the name of a run's Job: the first is named like the Work, later ones -r2, -r3. A name that would become too
// long is shortened.
func RunName(name string, run int) string {
	if run <= 1 {
		return name
	}
	suffix := fmt.Sprintf("-r%d", run)
	return Shorten(name, maxLabel-len(suffix)) + suffix
}

// mapScheduling fills in what the template leaves to the scheduling policy. Where both say something, Validate has made sure
// that it is the same.
func mapScheduling(job *batchv1.Job, p *v1beta2.SchedulingPolicy) {
	if p == nil {
		return
	}
	spec := &job.Spec.Template.Spec
	spec.PriorityClassName = cmp.Or(spec.PriorityClassName, p.PriorityClassName)
	if len(p.NodeSelector) > 0 {
		spec.NodeSelector = merged(p.NodeSelector, spec.NodeSelector)
	}
	if spec.Affinity == nil {
		spec.Affinity = p.Affinity
	}
	if len(spec.Tolerations) == 0 {
		spec.Tolerations = p.Tolerations
	}
	if len(spec.TopologySpreadConstraints) == 0 {
		spec.TopologySpreadConstraints = p.TopologySpreadConstraints
	}
	if p.QueueName != "" {
		job.Labels = merged(job.Labels, map[string]string{work.LabelKueueQueue: p.QueueName})
	}
}

// mapRetries sets backoffLimit = ceil(maxRetries × retryFactor), in exact decimal arithmetic.
func mapRetries(spec *batchv1.JobSpec, from v1beta2.WorkSpec) error {
	if from.MaxRetries == nil {
		return nil
	}
	factor, err := ParseFactor(from.RetryFactor)
	if err != nil {
		return fmt.Errorf("spec.retryFactor: %w", err)
	}
	product := new(big.Rat).Mul(factor, new(big.Rat).SetInt64(int64(*from.MaxRetries)))
	ceil, rest := new(big.Int).QuoRem(product.Num(), product.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		ceil.Add(ceil, big.NewInt(1))
	}
	if !ceil.IsInt64() || ceil.Int64() > 1<<31-1 {
		return fmt.Errorf("spec.maxRetries × spec.retryFactor is %s, more than backoffLimit can hold (2147483647)", ceil)
	}
	limit := int32(ceil.Int64())
	spec.BackoffLimit = &limit
	return nil
}

// annotate adds what identifies the run: labels on Job and Pods, annotations on the Job.
func annotate(job *batchv1.Job, doc *v1beta2.Work, in Injection) {
	labels := map[string]string{work.LabelWork: LabelValue(doc.Name), work.LabelRun: strconv.Itoa(max(in.Run, 1))}
	if doc.Spec.Tenant != "" {
		labels[work.LabelTenant] = doc.Spec.Tenant
	}
	if group := doc.Spec.ConcurrencyGroup; group != "" {
		labels[work.LabelGroup] = group
	}
	job.Labels = merged(job.Labels, labels)
	job.Spec.Template.Labels = merged(job.Spec.Template.Labels, labels)
	if d := doc.Spec.Debug; d != nil {
		job.Spec.Template.Annotations = merged(job.Spec.Template.Annotations, map[string]string{work.AnnotationDebug: fmt.Sprintf("%d/%s", d.Port, strings.TrimPrefix(d.Path, "/"))})
	}
	delete(job.Annotations, work.AnnotationConverted)
	own := map[string]string{work.AnnotationSubmitID: in.SubmitID}
	if LabelValue(doc.Name) != doc.Name {
		own[work.AnnotationName] = doc.Name
	}
	if in.SubmittedBy != "" {
		own[work.AnnotationSubmittedBy] = in.SubmittedBy
	}
	if in.TraceParent != "" {
		own[work.AnnotationTraceParent] = in.TraceParent
		if in.TraceState != "" {
			own[work.AnnotationTraceState] = in.TraceState
		}
	}
	job.Annotations = merged(job.Annotations, own)
}

// record stores the whole document and its hash on the Job.
func record(job *batchv1.Job, w *v1beta2.Work) error {
	stored, err := EncodeSpec(w)
	if err != nil {
		return err
	}
	hash, err := Hash(w)
	if err != nil {
		return err
	}
	job.Annotations = merged(job.Annotations, map[string]string{work.AnnotationSpec: stored, work.AnnotationSpecHash: hash})
	total := 0
	for k, v := range job.Annotations {
		total += len(k) + len(v)
	}
	if total > MaxAnnotationBytes {
		room := MaxAnnotationBytes - (total - len(stored))
		return fmt.Errorf("annotations are too large: our record of the spec needs %d bytes, %d are left of the API's 256 KiB (16 KiB are kept free for a later pause); make metadata.annotations smaller",
			len(stored), max(room, 0))
	}
	return nil
}

// injectTrace hands the caller's trace context to every container that does not set its own.
func injectTrace(job *batchv1.Job, in Injection) {
	if in.TraceParent == "" {
		return
	}
	spec := &job.Spec.Template.Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			setEnv(&containers[i], "TRACEPARENT", in.TraceParent)
			if in.TraceState != "" {
				setEnv(&containers[i], "TRACESTATE", in.TraceState)
			}
		}
	}
}

func setEnv(c *corev1.Container, name, value string) {
	addEnv(c, corev1.EnvVar{Name: name, Value: value})
}

// addEnv adds a variable, unless the container sets it itself.
func addEnv(c *corev1.Container, variable corev1.EnvVar) {
	for _, e := range c.Env {
		if e.Name == variable.Name {
			return
		}
	}
	c.Env = append(c.Env, variable)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func merged(into, from map[string]string) map[string]string {
	out := maps.Clone(into)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, from)
	return out
}
