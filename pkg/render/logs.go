package render

import (
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// LogPrinter writes lines of output, each with the place it came from when there is more than one.
type LogPrinter struct {
	Out        io.Writer
	Always     bool // the prefix is written although there is one source only
	Never      bool // no prefix at all
	Timestamps bool
	Terminal   bool // keep colours and nothing else of what steers a terminal; prefixes are coloured

	sources map[string]bool
}

// Expect says how many sources there will be, as far as it is known beforehand.
func (p *LogPrinter) Expect(pod *corev1.Pod, container string) { p.see(pod, container) }

// Print writes one line of a container's output. Without a terminal it is written as the program wrote it.
func (p *LogPrinter) Print(pod *corev1.Pod, container, stamp, text string) {
	p.see(pod, container)
	if p.Terminal {
		text = keepColours(text)
	}
	if p.Timestamps {
		text = stamp + " " + text
	}
	if !p.Never && (p.Always || len(p.sources) > 1) {
		text = p.prefix(pod, container) + text
	}
	fmt.Fprintln(p.Out, text)
}

func (p *LogPrinter) see(pod *corev1.Pod, container string) {
	if p.sources == nil {
		p.sources = map[string]bool{}
	}
	p.sources[pod.Name+"/"+container] = true
}

// prefix is [pod container], with the completion index in front where there is one: [3/pod container].
func (p *LogPrinter) prefix(pod *corev1.Pod, container string) string {
	name := pod.Name
	if index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; index != "" {
		name = index + "/" + name
	}
	text := fmt.Sprintf("[%s %s]", name, container)
	if !p.Terminal {
		return text + " "
	}
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, pod.Name)
	code := palette[hash.Sum32()%uint32(len(palette))]
	return "\x1b[" + code + "m" + text + "\x1b[0m "
}

// palette are the colours of prefixes: those that can be read on light and dark screens.
var palette = []string{"36", "32", "35", "33", "34", "96", "92", "95"}

var colourSequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// keepColours strips everything that steers a terminal but the setting of colours.
func keepColours(text string) string {
	var out strings.Builder
	last := 0
	coloured := false
	for _, at := range colourSequence.FindAllStringIndex(text, -1) {
		out.WriteString(clean(text[last:at[0]], true) + text[at[0]:at[1]])
		last, coloured = at[1], true
	}
	out.WriteString(clean(text[last:], true))
	if coloured {
		out.WriteString("\x1b[0m")
	}
	return out.String()
}
