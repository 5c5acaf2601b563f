package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	admissionv1 "k8s.io/api/admission/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/jsonpath"
)

// stranger is the field manager of what scripts do as someone else.
const stranger = "someone-else"

// apply FILE...
func (s *script) cmdApply(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "apply FILE...")
	for _, name := range args {
		file, err := os.Open(ts.MkAbs(name))
		ts.Check(err)
		err = s.create(file)
		_ = file.Close() // only read
		if err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
	}
}

// expand FILE...
func (s *script) cmdExpand(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "expand FILE...")
	for _, name := range args {
		path := ts.MkAbs(name)
		data, err := os.ReadFile(path)
		ts.Check(err)
		text := variable.ReplaceAllStringFunc(string(data), func(v string) string { return ts.Getenv(v[2 : len(v)-1]) })
		ts.Check(os.WriteFile(path, []byte(text), 0o600))
	}
}

var variable = regexp.MustCompile(`\$\{[A-Z_]+\}`)

func (s *script) create(in io.Reader) error {
	decoder := yaml.NewYAMLOrJSONDecoder(in, 4096)
	for {
		obj := &unstructured.Unstructured{}
		err := decoder.Decode(&obj.Object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(obj.Object) == 0 {
			continue
		}
		if err := s.createOne(obj); err != nil {
			return err
		}
	}
}

// clusterwide are the kinds that are in no namespace; what a script makes of them goes with it.
var clusterwide = []string{
	"PriorityClass", "RuntimeClass", "Node", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"CustomResourceDefinition",
}

func (s *script) createOne(obj *unstructured.Unstructured) error {
	gvr, _ := meta.UnsafeGuessKindToResource(obj.GroupVersionKind())
	options := metav1.CreateOptions{FieldManager: stranger}
	if slices.Contains(clusterwide, obj.GetKind()) {
		_, err := s.dynamic.Resource(gvr).Create(s.ctx, obj, options)
		s.leftovers = append(s.leftovers, func(ctx context.Context) error {
			return s.dynamic.Resource(gvr).Delete(ctx, obj.GetName(), metav1.DeleteOptions{})
		})
		return err
	}
	if obj.GetNamespace() == "" {
		obj.SetNamespace(s.namespace)
	}
	_, err := s.dynamic.Resource(gvr).Namespace(obj.GetNamespace()).Create(s.ctx, obj, options)
	return err
}

// evict JOB
func (s *script) cmdEvict(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "evict JOB")
	pods, err := s.client.CoreV1().Pods(s.namespace).List(s.ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + args[0]})
	ts.Check(err)
	if len(pods.Items) == 0 {
		ts.Fatalf("job %s has no Pods", args[0])
	}
	for _, pod := range pods.Items {
		ts.Check(s.client.PolicyV1().Evictions(s.namespace).Evict(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: s.namespace}}))
	}
}

// webhook MESSAGE
func (s *script) cmdWebhook(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "webhook MESSAGE")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "not an AdmissionReview", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: args[0]}}
		_ = json.NewEncoder(w).Encode(review) // the API server tells when it did not get it
	}))
	s.leftovers = append(s.leftovers, func(context.Context) error { server.Close(); return nil })
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Setenv("WEBHOOK", server.URL)
	ts.Setenv("WEBHOOK_CA", base64.StdEncoding.EncodeToString(ca))
}

func (s *script) resource(ts *testscript.TestScript, kind string) dynamic.ResourceInterface {
	gvr, ok := map[string]schema.GroupVersionResource{
		"job":            {Group: "batch", Version: "v1", Resource: "jobs"},
		"pod":            {Version: "v1", Resource: "pods"},
		"quota":          {Version: "v1", Resource: "resourcequotas"},
		"configmap":      {Version: "v1", Resource: "configmaps"},
		"secret":         {Version: "v1", Resource: "secrets"},
		"serviceaccount": {Version: "v1", Resource: "serviceaccounts"},
		"claim":          {Version: "v1", Resource: "persistentvolumeclaims"},
	}[kind]
	if !ok {
		ts.Fatalf("no kind %q here", kind)
	}
	return s.dynamic.Resource(gvr).Namespace(s.namespace)
}

// update KIND/NAME JSON
func (s *script) cmdUpdate(ts *testscript.TestScript, args []string) {
	need(ts, args, 2, "update KIND/NAME JSON")
	kind, name := split(ts, args[0])
	_, err := s.resource(ts, kind).Patch(s.ctx, name, types.MergePatchType, []byte(args[1]),
		metav1.PatchOptions{FieldManager: stranger})
	ts.Check(err)
}

// remove KIND/NAME
func (s *script) cmdRemove(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "remove KIND/NAME")
	kind, name := split(ts, args[0])
	background := metav1.DeletePropagationBackground
	ts.Check(s.resource(ts, kind).Delete(s.ctx, name, metav1.DeleteOptions{PropagationPolicy: &background}))
}

// await [-t D] WHAT EXPR VALUE, await [-t D] WHAT exists|gone
func (s *script) cmdAwait(ts *testscript.TestScript, args []string) {
	limit, args := timeout(ts, args, time.Minute)
	need(ts, args, 2, "await [-t DURATION] WHAT EXPR VALUE|exists|gone")
	kind, name := split(ts, args[0])
	last := ""
	err := poll(s.ctx, limit, func(ctx context.Context) (bool, error) {
		obj, err := s.look(ctx, ts, kind, name)
		gone := apierrors.IsNotFound(err)
		switch {
		case gone && args[1] == "gone", err == nil && args[1] == "exists":
			return true, nil
		case gone || args[1] == "gone" && err == nil:
			return false, nil
		case err != nil:
			return false, err
		}
		need(ts, args, 3, "await WHAT EXPR VALUE")
		last, err = query(obj, args[1])
		return err == nil && last == args[2], nil
	})
	if err != nil {
		ts.Fatalf("%s is not so within %s; last value %q: %v", strings.Join(args, " "), limit, last, err)
	}
}

// look reads one object, or the Pods of a Job as a list.
func (s *script) look(ctx context.Context, ts *testscript.TestScript, kind, name string) (any, error) {
	if kind != "pods" {
		obj, err := s.resource(ts, kind).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return obj.Object, nil
	}
	list, err := s.resource(ts, "pod").List(ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + name})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "of "+name)
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	return list.UnstructuredContent(), nil
}

// json FILE EXPR VALUE
func (s *script) cmdJSON(ts *testscript.TestScript, args []string) {
	need(ts, args, 3, "json FILE EXPR VALUE")
	got, err := query(decode(ts, args[0]), args[1])
	ts.Check(err)
	if got != args[2] {
		ts.Fatalf("%s of %s is %q, want %q", args[1], args[0], got, args[2])
	}
}

// cmpjson FILE WANT
func (s *script) cmdCmpJSON(ts *testscript.TestScript, args []string) {
	need(ts, args, 2, "cmpjson FILE WANT")
	if err := contains("", decode(ts, args[0]), decode(ts, args[1])); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
}

func decode(ts *testscript.TestScript, file string) any {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &v); err != nil {
		ts.Fatalf("%s is not JSON: %v", file, err)
	}
	return v
}

func query(obj any, expr string) (string, error) {
	if !strings.HasPrefix(expr, "{") {
		expr = "{" + expr + "}"
	}
	p := jsonpath.New("expr").AllowMissingKeys(true)
	if err := p.Parse(expr); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := p.Execute(&b, obj); err != nil {
		return "", err
	}
	return b.String(), nil
}

// contains reports where got lacks something of want. Lists must be as long as wanted; "*" is any value.
func contains(at string, got, want any) error {
	switch want := want.(type) {
	case string:
		if want == "*" && got != nil {
			return nil
		}
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, want an object", at, got)
		}
		for key, value := range want {
			if err := contains(at+"."+key, have[key], value); err != nil {
				return err
			}
		}
		return nil
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			return fmt.Errorf("%s is %v, want a list of %d", at, got, len(want))
		}
		for i, value := range want {
			if err := contains(fmt.Sprintf("%s[%d]", at, i), have[i], value); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s is %v, want %v", at, got, want)
	}
	return nil
}
