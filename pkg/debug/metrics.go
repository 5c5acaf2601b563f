package debug

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

const namespace = "kubectl_work"

// metrics are what /metrics shows. Their registry is the server's own: two servers in one process do not meet.
type metrics struct {
	registry *prometheus.Registry
	passes   *prometheus.CounterVec
	actions  *prometheus.CounterVec
	delay    prometheus.Histogram
	took     prometheus.Histogram
}

func newMetrics(source Source) *metrics {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label})
	}
	histogram := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}) //nolint:mnd // 1 ms to 16 s
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		passes:   counter("passes_total", "Passes of the reconcile loop, by result (ok or error).", "result"),
		actions:  counter("actions_total", "What the loop did about runs, by result (ok or error).", "result"),
		delay:    histogram("pass_delay_seconds", "From a change to the start of the pass about it."),
		took:     histogram("pass_duration_seconds", "How long a pass took."),
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value)
	}
	m.registry.MustRegister(m.passes, m.actions, m.delay, m.took, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("queued_passes", "Passes that are due.", func() float64 { return float64(source.Queued()) }),
		gauge("leading", "1 when this watch is the one that acts.", func() float64 { return number(source.Acts()) }),
		gauge("synced", "1 when everything in scope was read.", func() float64 { return number(source.Synced()) }),
		&runsByPhase{source: source, desc: prometheus.NewDesc(namespace+"_runs", "Runs in scope, by phase.", []string{"phase"}, nil)})
	return m
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// runsByPhase counts when it is asked, so that nothing has to be kept up to date.
type runsByPhase struct {
	source Source
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *runsByPhase) Describe(out chan<- *prometheus.Desc) { out <- r.desc }

// Collect implements prometheus.Collector.
func (r *runsByPhase) Collect(out chan<- prometheus.Metric) {
	counts := map[status.Phase]int{}
	for _, row := range r.source.Rows() {
		counts[row.Verdict.Phase]++
	}
	for _, phase := range status.Phases() {
		out <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, float64(counts[phase]), string(phase))
	}
}

// passed counts a pass.
func (m *metrics) passed(delay, took time.Duration, err error) {
	m.passes.WithLabelValues(resultOf(err)).Inc()
	m.delay.Observe(delay.Seconds())
	m.took.Observe(took.Seconds())
}

func resultOf(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
