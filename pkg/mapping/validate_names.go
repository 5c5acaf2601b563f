package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// maxAnnotations is the API's limit for all annotations of an object together, in bytes.
const maxAnnotations = 256 << 10

// MaxNameLength is how long the name of a run of w may be: it becomes a label of the Pods, and in Indexed mode, with
// the highest index behind it, a host name.
func MaxNameLength(w *v1beta2.Work) int {
	mode, completions := w.Spec.CompletionMode, w.Spec.Completions
	if mode != nil && *mode == batchv1.IndexedCompletion && completions != nil && *completions > 0 {
		return maxLabel - len("-") - len(strconv.Itoa(int(*completions)-1))
	}
	return maxLabel
}

func (v *validator) metadata() {
	m := &v.Work.ObjectMeta
	v.name()
	if m.Name == "" && m.GenerateName != "" {
		if stem := strings.TrimRight(m.GenerateName, "-."); len(validation.IsDNS1123Subdomain(cutTo(stem, maxLabel))) > 0 {
			v.add("metadata.generateName", notAName(m.GenerateName, "name", lowerOrDot), "for example "+legalName(stem, maxLabel, true)+"-")
		}
	}
	if m.Namespace != "" && len(validation.IsDNS1123Label(m.Namespace)) > 0 {
		v.add("metadata.namespace", notAName(m.Namespace, "namespace", lower), "")
	}
	v.labels("metadata.labels", m.Labels)
	v.annotations("metadata.annotations", m.Annotations)
	template := &v.Work.Spec.Template
	v.labels("spec.template.metadata.labels", template.Labels)
	v.annotations("spec.template.metadata.annotations", template.Annotations)
}

func (v *validator) name() {
	const path = "metadata.name"
	name, most := v.Work.Name, MaxNameLength(v.Work)
	if name == "" {
		if v.Work.GenerateName == "" {
			v.add(path, "a name is missing", "set metadata.name, or metadata.generateName for a new name each time")
		}
		return
	}
	indexed := v.indexed()
	legal := "for example " + legalName(name, most, !indexed)
	switch {
	case len(validation.IsDNS1123Subdomain(cutTo(name, maxLabel))) > 0:
		v.add(path, notAName(name, "name", lowerOrDot), legal)
	case indexed && strings.Contains(name, "."):
		v.add(path, quoted(name)+" has dots: not possible with completionMode: Indexed, which makes host names of it", legal)
	}
	switch long := utf8Len(name); {
	case long > maxLabel:
		v.add(path, fmt.Sprintf("the name has %d characters, %d is the most, because it becomes a label of the Pods", long, most), "shorten it by "+strconv.Itoa(long-most))
	case long > most:
		v.add(path, fmt.Sprintf("the name has %d characters, %d is the most with %d indexes, because the name and the index together become a host name",
			long, most, *v.Work.Spec.Completions), "shorten it by "+strconv.Itoa(long-most))
	}
}

func utf8Len(s string) int { return len([]rune(s)) }

// cutTo keeps the length out of a question about characters.
func cutTo(name string, most int) string {
	if len(name) <= most {
		return name
	}
	return strings.TrimRight(name[:most], "-.")
}

func lower(r rune) bool      { return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') || r == '-' }
func lowerOrDot(r rune) bool { return lower(r) || r == '.' }
func labelRune(r rune) bool {
	return lowerOrDot(r) || (r >= 'A' && r <= 'Z') || r == '_'
}

// notAName says why text is not a legal what: which characters are illegal and where they are, from 1.
func notAName(text, what string, allowed func(rune) bool) string {
	var odd []string
	const most = 5
	for i, r := range []rune(text) {
		if !allowed(r) {
			odd = append(odd, fmt.Sprintf("%q at %d", string(r), i+1))
		}
	}
	message := quoted(text) + " is not a legal " + what + ": "
	switch {
	case len(odd) == 0:
		return message + "it must begin and end with a letter or digit, and so must every part between dots"
	case len(odd) == 1:
		return message + odd[0] + " is not allowed"
	case len(odd) > most:
		return message + strings.Join(odd[:most], ", ") + " and " + strconv.Itoa(len(odd)-most) + " more are not allowed"
	}
	return message + strings.Join(odd[:len(odd)-1], ", ") + " and " + odd[len(odd)-1] + " are not allowed"
}

// legalName makes a legal name of name: nightly-build of Nightly_Build.
func legalName(name string, most int, dots bool) string {
	legal := strings.Map(func(r rune) rune {
		if lower(r) || (dots && r == '.') {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	parts := strings.Split(legal, ".")
	for i, part := range parts {
		parts[i] = strings.Join(strings.FieldsFunc(part, func(r rune) bool { return r == '-' }), "-")
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	if len(parts) == 0 {
		return "work"
	}
	return cutTo(strings.Join(parts, "."), most)
}

// labels checks keys and values, in the order of their keys.
func (v *validator) labels(path string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, at := labels[key], path+"["+key+"]"
		v.qualifiedKey(at, key)
		if len(validation.IsValidLabelValue(value)) == 0 {
			continue
		}
		if len(value) > maxLabel {
			v.add(at, fmt.Sprintf("the label value has %d characters, %d is the most", len(value), maxLabel), "an annotation may be longer")
			continue
		}
		v.add(at, notAName(value, "label value", labelRune), `letters, digits, "-", "_" and "." are: `+legalLabel(value))
	}
}

// legalLabel makes a legal label value of value.
func legalLabel(value string) string {
	legal := strings.Map(func(r rune) rune {
		if labelRune(r) {
			return r
		}
		return '-'
	}, value)
	return strings.Trim(legal, "-_.")
}

func (v *validator) qualifiedKey(path, key string) {
	if reasons := validation.IsQualifiedName(strings.ToLower(key)); len(reasons) > 0 {
		v.add(path, quoted(key)+" is not a legal key", `write name or example.com/name: letters, digits, "-", "_" and ".", at most 63 characters after the "/"`)
	}
}

func (v *validator) annotations(path string, annotations map[string]string) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		v.qualifiedKey(path+"["+key+"]", key)
		size += len(key) + len(annotations[key])
	}
	if size > maxAnnotations {
		v.add(path, fmt.Sprintf("the annotations have %d KiB together, %d KiB is the most", (size+1023)>>10, maxAnnotations>>10), "put large data in a ConfigMap")
	}
}
