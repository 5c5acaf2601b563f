package status_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

// captured says what each capture is, typed from the contract's phase function and from what was seen on the cluster:
// the phase in the order Complete, Failed, deletion, decision, holds, parallelism 0, running, active, else Pending; and
// for the captures that have one, the reason and a part of the message that a person must be told.
var captured = map[string][]struct {
	phase   status.Phase
	outcome status.Outcome
	reason  string
	message string
}{
	"01-fails-once.7s":          {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "container main exited 3"}},
	"01-fails-once.33s":         {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "container main exited 3"}},
	"02-image-missing.7s":       {{status.PhaseInitializing, "", "ImagePullBackOff", "image registry.invalid/nobody/nothing:1 of container main cannot be pulled: not found"}},
	"02-image-missing.33s":      {{status.PhaseInitializing, "", "ImagePullBackOff", "image registry.invalid/nobody/nothing:1 of container main cannot be pulled: not found"}},
	"02-image-never-pull.7s":    {{status.PhaseInitializing, "", "ErrImageNeverPull", "imagePullPolicy is Never"}},
	"02-image-never-pull.33s":   {{status.PhaseInitializing, "", "ErrImageNeverPull", "imagePullPolicy is Never"}},
	"03-cause-hidden.7s":        {{status.PhaseRunning, "", "TryFailed", "1 of 2 tries failed"}},
	"03-cause-hidden.33s":       {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", `container migrate exited 42, message: "lock held"`}},
	"04-sidecar-never-ends.7s":  {{status.PhaseRunning, "", "HelperStillRunning", "still running: proxy. The Job cannot complete until it ends"}},
	"04-sidecar-never-ends.33s": {{status.PhaseRunning, "", "HelperStillRunning", "container main ended 0"}},
	"05-immutable-v1.7s":        {{phase: status.PhaseRunning}},
	"05-immutable-v1.33s":       {{phase: status.PhaseRunning}},
	"05-immutable-v2.7s":        {{phase: status.PhaseRunning}},
	"05-immutable-v2.33s":       {{phase: status.PhaseRunning}},
	"09-secret-env-missing.7s":  {{status.PhaseInitializing, "", "CreateContainerConfigError", `secret "no-such-secret" not found for container main`}},
	"09-secret-env-missing.33s": {{status.PhaseInitializing, "", "CreateContainerConfigError", `secret "no-such-secret" not found for container main`}},
	"11-quota-pods.7s":          {{status.PhasePending, "", "QuotaExceeded", "quota no-pods leaves no room for its Pods: they want pods=1, used pods=0, allowed pods=0"}},
	"11-quota-pods.33s":         {{status.PhasePending, "", "QuotaExceeded", "(6 tries, the last 1 s ago)"}},
	"13-no-such-node-label.7s":  {{status.PhaseInitializing, "", "Unschedulable", "didn't match Pod's node affinity/selector"}},
	"13-no-such-node-label.33s": {{status.PhaseInitializing, "", "Unschedulable", "node label example.com/pool=does-not-exist"}},
	"13-too-much-cpu.7s":        {{status.PhaseInitializing, "", "Unschedulable", "Insufficient cpu"}},
	"13-too-much-cpu.33s":       {{status.PhaseInitializing, "", "Unschedulable", "it asks for cpu 1k"}},
	"14-retry-then-ok.7s":       {{phase: status.PhasePending}},
	"14-retry-then-ok.33s":      {{status.PhaseSucceeded, status.OutcomeSucceeded, "CompletionsReached", "Succeeded after 2 tries (1 failed)"}},
	"15-quiet-for-long.7s":      {{phase: status.PhaseRunning}},
	"15-quiet-for-long.33s":     {{phase: status.PhaseRunning}},
	"16-ttl-zero.7s":            {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"16-ttl-zero.33s":           nil, // its TTL had deleted it
	"17-long-sleep.7s":          {{phase: status.PhaseRunning}},
	"17-long-sleep.33s":         {{phase: status.PhaseRunning}},
	"18-no-service-account.7s":  {{status.PhasePending, "", "ServiceAccountMissing", "service account c-18-no-service-account/nobody-made-me does not exist"}},
	"18-no-service-account.33s": {{status.PhasePending, "", "ServiceAccountMissing", "service account c-18-no-service-account/nobody-made-me does not exist"}},
	"19-pod-security.7s":        {{status.PhasePending, "", "PodSecurity", `the namespace enforces Pod Security "restricted", which its Pods violate`}},
	"61-webhook-down.7s":        {{status.PhasePending, "", "WebhookDown", "webhook pods.case.example.com did not answer: connection refused"}},
	"21-generate-name.7s":       {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"21-generate-name.33s":      {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"24-init-fails.7s":          {{status.PhaseInitializing, "", "CrashLoopBackOff", "init container fetch exited 5"}},
	"24-init-fails.33s":         {{status.PhaseInitializing, "", "CrashLoopBackOff", "init container fetch exited 5"}},
	"25-four-pods-logs.7s":      {{phase: status.PhaseRunning}},
	"25-four-pods-logs.33s":     {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	// Kueue's label on a suspended Job: another one decides, so it is queued, not paused.
	"32-queue-label-suspended.7s":  {{status.PhaseQueued, "", "QueuedElsewhere", "queue team-a decides when it starts"}},
	"32-queue-label-suspended.33s": {{status.PhaseQueued, "", "QueuedElsewhere", "queue team-a decides when it starts"}},
	"33-suspended.7s":              {{status.PhasePaused, "", "Suspended", "spec.suspend is true"}},
	"33-suspended.33s":             {{status.PhasePaused, "", "Suspended", "spec.suspend is true"}},
	"34-resume-resets-clock.7s":    {{phase: status.PhaseRunning}},
	"34-resume-resets-clock.33s":   {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"45-limit-with-parallelism.7s": {{
		status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded",
		"4 pods failed, backoffLimit is 2: pods already running when the limit was passed are counted too",
	}},
	"45-limit-with-parallelism.33s":    {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "4 pods failed, backoffLimit is 2"}},
	"48-exit-code-policy.7s":           {{status.PhaseFailed, status.OutcomeFailed, "PodFailurePolicy", "rule 1 (FailJob on 42 in main) matched pod exit-code-policy-bjcbp"}},
	"48-exit-code-policy.33s":          {{status.PhaseFailed, status.OutcomeFailed, "PodFailurePolicy", "container main exited 42"}},
	"52-success-policy.7s":             {{status.PhaseTerminating, status.OutcomeSucceeded, "SuccessPolicy", "1 of 3 indexes, enough by rule 0"}},
	"52-success-policy.33s":            {{status.PhaseSucceeded, status.OutcomeSucceeded, "SuccessPolicy", "1 of 3 indexes, enough by rule 0"}},
	"53-slow-to-fail.7s":               {{status.PhaseTerminating, status.OutcomeFailed, "BackoffLimitExceeded", "container main exited 1"}},
	"53-slow-to-fail.33s":              {{status.PhaseTerminating, status.OutcomeFailed, "BackoffLimitExceeded", "container main exited 1"}},
	"55-zero-completions.7s":           {{status.PhaseSucceeded, status.OutcomeSucceeded, "CompletionsReached", "Succeeded, nothing to do (0 completions)"}},
	"55-zero-completions.33s":          {{status.PhaseSucceeded, status.OutcomeSucceeded, "CompletionsReached", "Succeeded, nothing to do (0 completions)"}},
	"56-zero-parallelism.7s":           {{status.PhasePaused, "", "ZeroParallelism", "spec.parallelism is 0"}},
	"56-zero-parallelism.33s":          {{status.PhasePaused, "", "ZeroParallelism", "suspend is not what holds it"}},
	"57-more-parallel-than-needed.7s":  {{phase: status.PhaseRunning}},
	"57-more-parallel-than-needed.33s": {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"58-command-not-found.7s": {{
		status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded",
		`container main could not start: "exit 1": executable file not found in $PATH`,
	}},
	"58-command-not-found.33s": {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "could not start"}},
	"59-crash-loop.7s":         {{status.PhaseRunning, "", "CrashLoopBackOff", "container main exited 1"}},
	"59-crash-loop.33s":        {{status.PhaseRunning, "", "CrashLoopBackOff", "of limit 50"}},
	"67-name-with-dots.7s":     {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"67-name-with-dots.33s":    {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"78-log-rotation.7s":       {{phase: status.PhaseRunning}},
	"78-log-rotation.33s":      {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"82-many-documents.7s": {
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
	},
	"82-many-documents.33s": {
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
	},
	"83-byte-order-mark.7s":  {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"83-byte-order-mark.33s": {{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"}},
	"83-crlf.7s": {
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
	},
	"83-crlf.33s": {
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
		{phase: status.PhaseSucceeded, outcome: status.OutcomeSucceeded, reason: "CompletionsReached"},
	},
	"93-managed-elsewhere.7s":  {{status.PhasePending, "", "ManagedElsewhere", "managed by example.com/remote-dispatcher; this cluster's Job controller ignores it"}},
	"93-managed-elsewhere.33s": {{status.PhasePending, "", "ManagedElsewhere", "managed by example.com/remote-dispatcher; this cluster's Job controller ignores it"}},
	// The Pod has ended, the controller has not counted it yet: finished Pods never change the phase.
	"99-two-containers.7s":  {{phase: status.PhaseInitializing}},
	"99-two-containers.33s": {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "container main exited 3"}},
	"coordination.15s": {
		{status.PhaseWaiting, "", "DependencyPending", "waits for job/first to end Succeeded; it is Queued"},
		{status.PhaseQueued, "", "InLine", "waits in line in group turns; place 1 of 1; job/second has the turn (Running)"},
		{status.PhaseRunning, "", "HoldsOverridden", "it was started although it was held (Waiting)"},
		{phase: status.PhaseRunning},
	},
	// Captured when the rules for them were written; the wording is typed from the contract and from what a person needs.
	"volume-secret-missing.15s": {{status.PhaseInitializing, "", "FailedMount", `cannot be mounted: secret "no-such-secret" not found`}},
	"volume-key-missing.15s":    {{status.PhaseInitializing, "", "FailedMount", `cannot be mounted: configmap "settings" has no key "no-such-key"`}},
	"env-key-missing.15s":       {{status.PhaseInitializing, "", "CreateContainerConfigError", `configmap "settings" has no key "no-such-key", which container main wants`}},
	"claim-missing.15s":         {{status.PhaseInitializing, "", "ClaimMissing", "wants volume claim no-such-claim, which does not exist"}},
	"claim-unbound.15s":         {{status.PhaseInitializing, "", "ClaimNotBound", "wants a volume claim that is not bound: data"}},
	"out-of-memory.15s":         {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "was killed for using too much memory (OOMKilled, limit 16Mi)"}},
	"out-of-memory-child.15s":   {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "exited 7 after a process in it was killed for using too much memory"}},
	"init-fails-never.15s":      {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "init container fetch exited 5"}},
	"init-runs.15s":             {{status.PhaseInitializing, "", "InitRunning", "is at init step 1 of 1: fetch runs"}},
	// Restarts of a native sidecar do not count for backoffLimit, so no limit is told.
	"native-sidecar-crashes.15s":   {{status.PhaseRunning, "", "CrashLoopBackOff", "sidecar proxy exited 9, restart 3"}},
	"native-sidecar-not-ready.15s": {{status.PhaseInitializing, "", "SidecarNotReady", "sidecar proxy runs, but its startup probe has not passed"}},
	"exec-format.15s":              {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "container main exited 1"}}, // only the output tells more
	"not-executable.15s":           {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", `could not start: "/cfg/prog": permission denied`}},
	"pod-deadline.15s":             {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "was active longer than its template's activeDeadlineSeconds: 3"}},
	"job-deadline.15s":             {{status.PhaseFailed, status.OutcomeFailed, "DeadlineExceeded", "it was active longer than activeDeadlineSeconds: 3"}},
	"segfault.60s":                 {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "exited 139 (signal 11, SIGSEGV)"}},
	"back-off.15s":                 {{status.PhaseRunning, "", "TryFailed", "3 of 7 tries failed"}},
	"indexes-fail.7s":              {{status.PhaseRunning, "", "IndexesFailed", "2 of 5 indexes failed: 1,3 (backoffLimitPerIndex 0)"}},
	"indexes-fail.15s":             {{status.PhaseFailed, status.OutcomeFailed, "FailedIndexes", "2 of 5 indexes failed: 1,3 (backoffLimitPerIndex 0)"}},
	"indexes-too-many.15s":         {{status.PhaseFailed, status.OutcomeFailed, "MaxFailedIndexesExceeded", "3 of 5 indexes failed: 0-2 (maxFailedIndexes 1)"}},
	"index-policy.15s":             {{status.PhaseFailed, status.OutcomeFailed, "FailedIndexes", "1 of 3 indexes failed: 1"}},
	"node-refuses.15s":             {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "was refused by node node-1 (NodeAffinity)"}},
	"gated.15s":                    {{status.PhaseInitializing, "", "SchedulingGated", "is held by scheduling gates: example.com/wait-for-data"}},
	"run-as-root.15s":              {{status.PhaseInitializing, "", "CreateContainerConfigError", "container main has runAsNonRoot, and its image will run as root"}},
	"no-runtime.15s":               {{status.PhaseInitializing, "", "FailedCreatePodSandBox", `no runtime for "no-such-handler" is configured`}},
	"image-invalid.15s":            {{status.PhaseInitializing, "", "InvalidImageName", "the name is not a valid image reference"}},
	"work-queue.15s":               {{status.PhaseRunning, "", "WorkQueueEnding", "2 Pods succeeded, so no new Pod is made"}},
	"empty-dir-full.15s":           {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", `was evicted by its node: Usage of EmptyDir volume "d" exceeds the limit "4Mi"`}},
	"liveness.15s":                 {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "exited 137 (signal 9, SIGKILL): its liveness probe failed"}},
	"post-start.15s":               {{status.PhaseFailed, status.OutcomeFailed, "BackoffLimitExceeded", "exited 137 (signal 9, SIGKILL): its postStart hook failed"}},
	"slow-to-end.15s":              {{status.PhaseTerminating, status.OutcomeFailed, "DeadlineExceeded", "it was active longer than activeDeadlineSeconds: 1"}},
	"replacement-waits.15s":        {{status.PhaseRunning, "", "PodsEnding", "is ending: it has until"}},
	"evicted.15s":                  {{status.PhaseRunning, "", "TryFailed", "1 of 4 tries failed"}},
	"host-port.15s":                {{status.PhaseRunning, "", "Unschedulable", "1 node(s) didn't have free ports for the requested pod ports"}},
	"stopped.15s":                  {{status.PhaseFailed, status.OutcomeFailed, "Stopped", "it was stopped: its activeDeadlineSeconds is 0"}},
	"limit-range.15s":              {{status.PhasePending, "", "LimitRange", "maximum cpu usage per Container is 500m, but limit is 2"}},
	"affinity.15s":                 {{status.PhaseInitializing, "", "Unschedulable", "didn't match Pod's node affinity/selector"}},
	// An ignored disruption is not counted, and its Pod is gone: only the Job's events know of it. Nothing runs for a moment.
	"evicted-ignored.15s": {{status.PhasePending, "", "PodsGone", "is gone: deleted or evicted by someone"}},
	"selector-overlap.15s": {
		{status.PhaseRunning, "", "SelectorOverlap", "1 Pod of others match its selector"},
		{status.PhaseRunning, "", "SelectorOverlap", "1 Pod of others match its selector"},
	},
	"restored.5s":    {{status.PhaseRunning, "", "RestoredCopy", "it is a restored copy of an earlier run (uid 11111111-2222-3333-4444-555555555555)"}},
	"deleting.5s":    {{status.PhaseTerminating, "", "Deleting", "held by example.com/keep"}},
	"drained.5s":     {{status.PhaseRunning, "", "TryFailed", "1 of 7 tries failed, the last: pod drained-"}},
	"node-lost.39s":  {{status.PhaseRunning, "", "NodeLost", "a replacement waits for it (podReplacementPolicy Failed)"}},
	"preemption.60s": {{phase: status.PhaseRunning}, {status.PhaseRunning, "", "Unschedulable", "Insufficient cpu; it asks for cpu 1100m"}},
}

func TestEveryCaptureIsWhatTheContractSays(t *testing.T) {
	t.Parallel()
	names := snapshottest.Names()
	require.Len(t, names, len(captured))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := captured[name]
			require.True(t, known, "no expectation is typed for this capture")
			snapshots, err := snapshottest.Load(name)
			require.NoError(t, err)
			require.Len(t, snapshots, len(want))
			for i, s := range snapshots {
				got := status.Of(s)
				require.Equal(t, want[i].phase, got.Phase)
				require.Equal(t, want[i].outcome, got.Outcome)
				require.Equal(t, want[i].reason, got.Reason)
				require.Contains(t, got.Message, want[i].message)
			}
		})
	}
}

// A reason that is said to be captured is one that a capture gives.
func TestCapturedReasons(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	for _, name := range snapshottest.Names() {
		snapshots, err := snapshottest.Load(name)
		require.NoError(t, err)
		for _, s := range snapshots {
			for _, f := range status.Of(s).Findings {
				given[f.ID+"/"+f.Reason] = true
				if f.Confidence != "" {
					t.Errorf("%s: %s/%s is there, so it is not unseen", name, f.ID, f.Reason)
				}
			}
		}
	}
	for _, r := range status.Rules() {
		seen := slices.ContainsFunc(r.Reasons, func(reason status.Reason) bool { return given[r.ID+"/"+reason.Name] })
		unseen := !slices.ContainsFunc(r.Reasons, func(reason status.Reason) bool { return reason.Proof != status.Unseen })
		withoutCapture := r.ID == "no-pods" || r.ID == "pods-hidden" // what is not there: see TestNoPodsWithoutEvents
		require.True(t, seen || unseen || withoutCapture, "no capture shows rule %s", r.ID)
		for _, reason := range r.Reasons {
			if reason.Proof == status.Captured {
				require.True(t, given[r.ID+"/"+reason.Name], "no capture gives %s/%s", r.ID, reason.Name)
			}
		}
	}
}
