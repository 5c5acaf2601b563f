package status

// Proof says how a rule's reason is known.
type Proof string

// The proofs.
const (
	Provoked Proof = "provoked" // an end-to-end test brings it about on a real cluster
	Captured Proof = "captured" // a snapshot of a real cluster shows it
	Unseen   Proof = "unseen"   // documentation and source only; its findings say confidence low
)

// Rule is what one rule looks for, for people: docs/rules.md and describe --explain.
type Rule struct {
	ID      string
	About   string // what it means and how it is told, in sentences
	Reasons []Reason
}

// Reason is one answer of a rule.
type Reason struct {
	Name  string // CamelCase, as in Finding.Reason
	Proof Proof
	About string // what it means, in a few words
}

// rule finds one kind of cause. It sees the phase, because most causes only make sense in some.
type rule struct {
	Rule
	find func(v view, p Phase) []Finding
}

// Rules lists all rules in their order.
func Rules() []Rule {
	var all []Rule
	for _, r := range rules() {
		all = append(all, r.Rule)
	}
	return all
}

// proofOf is how a rule's reason is known. A reason that no rule lists, of a controller that we do not know, is unseen.
func (r Rule) proofOf(reason string) Proof {
	for _, known := range r.Reasons {
		if known.Name == reason {
			return known.Proof
		}
	}
	return Unseen
}

// rules in the order in which they give the verdict. What the Job controller recorded comes first: it is the truth
// about the run. Then what keeps the Job from having Pods at all, because no Pod can tell it. Then what keeps a Pod from
// starting, nearest to the start last: an image that is missing is found only after a node was. Then nodes that are
// lost, because nothing in a Pod on them is true any more. Then what goes wrong in Pods that run. Remarks close.
func rules() []rule {
	var all []rule
	for _, group := range [][]rule{jobRules(), refusedRules(), startRules(), runRules(), remarkRules()} {
		all = append(all, group...)
	}
	return all
}

func jobRules() []rule {
	return []rule{
		{Rule{"job-failed", "The Job controller has recorded Failed, or has decided it (FailureTarget) and waits for the last Pods. The cause is that of " +
			"the Pod that decided it, else of the newest that failed.", []Reason{
			{"BackoffLimitExceeded", Provoked, "more tries failed than spec.backoffLimit allows"},
			{"DeadlineExceeded", Provoked, "active for longer than spec.activeDeadlineSeconds"},
			{"PodFailurePolicy", Provoked, "a FailJob rule of spec.podFailurePolicy matched a Pod"},
			{"FailedIndexes", Provoked, "all indexes have ended, and some were given up by backoffLimitPerIndex"},
			{"MaxFailedIndexesExceeded", Provoked, "more indexes were given up than spec.maxFailedIndexes"},
			{"Stopped", Provoked, "ended on purpose, by a deadline of 0"},
			{"Replaced", Provoked, "ended because a newer run of its group took over"},
			{"DependencyFailed", Provoked, "ended because what it waited for had another outcome"},
			{"DependencyLost", Provoked, "ended because what it waited for is gone"},
		}}, findFailed},
		{Rule{"job-succeeded", "The Job controller has recorded Complete, or has decided it (SuccessCriteriaMet) and waits for the last Pods.", []Reason{
			{"CompletionsReached", Captured, "as many Pods succeeded as spec.completions wants"},
			{"SuccessPolicy", Captured, "a rule of spec.successPolicy was met"},
		}}, findSucceeded},
		{Rule{"deleting", "The Job has a deletionTimestamp; finalizers hold it until their owners take them off.", []Reason{
			{"Deleting", Provoked, "it goes when its Pods and finalizers are gone"},
		}}, findDeleting},
		{Rule{"held", "Something keeps the run from starting. spec.suspend is the truth; our holds and Kueue's Workload say why. What waits for other runs goes " +
			"on only while a client looks: watch, or a wait for it.", []Reason{
			{"Paused", Provoked, "by kubectl work pause, with who and why"},
			{"Suspended", Captured, "spec.suspend is true, and nobody says why"},
			{"ZeroParallelism", Captured, "spec.parallelism is 0"},
			{"QueuedElsewhere", Captured, "a queueing controller decides"},
			{"QueueAdmitted", Unseen, "Kueue has admitted it, and is about to unsuspend it"},
			{"DependencyPending", Provoked, "for a run of another Work, which it depends on"},
			{"InLine", Provoked, "for its turn in its concurrency group"},
			{"HoldsUnreadable", Provoked, "our holds annotation cannot be read, so nothing is guessed"},
		}}, findHeld},
		{Rule{"managed-elsewhere", "spec.managedBy names another controller, so the one of this cluster does nothing and what is missing means nothing.", []Reason{
			{"ManagedElsewhere", Captured, "only the Job's own conditions count"},
		}}, findManagedElsewhere},
	}
}

func refusedRules() []rule {
	return []rule{
		{Rule{"pods-refused", "The API server refuses the Pods that the Job controller makes. The Job's own status stays empty; only FailedCreate events tell, " +
			"and it lasts until a SuccessfulCreate is newer.", []Reason{
			{"QuotaExceeded", Provoked, "a ResourceQuota leaves no room"},
			{"PodSecurity", Provoked, "the namespace enforces a Pod Security level that the Pods violate"},
			{"ServiceAccountMissing", Provoked, "the service account does not exist"},
			{"PriorityClassMissing", Provoked, "the priority class does not exist"},
			{"WebhookDown", Provoked, "an admission webhook did not answer"},
			{"WebhookDenied", Provoked, "an admission webhook said no"},
			{"PolicyDenied", Provoked, "a ValidatingAdmissionPolicy said no"},
			{"LimitRange", Provoked, "the Pods ask for more, or less, than the namespace's limits allow"},
			{"PodsRefused", Unseen, "another reason, in the server's words"},
		}}, findPodsRefused},
		{Rule{"no-pods", "The Job should have Pods, had none for 30 s, and no event tells why: events are kept for about an hour. A dry run of its Pod then " +
			"gives the reasons of pods-refused.", []Reason{
			{"NoPods", Provoked, "no Pod was ever made"},
			{"QuotaExceeded", Unseen, "told by a dry run: a ResourceQuota leaves no room"},
			{"PodSecurity", Unseen, "told by a dry run: Pod Security"},
			{"ServiceAccountMissing", Provoked, "told by a dry run: the service account does not exist"},
			{"PriorityClassMissing", Unseen, "told by a dry run: the priority class does not exist"},
			{"WebhookDown", Unseen, "told by a dry run: an admission webhook did not answer"},
			{"WebhookDenied", Unseen, "told by a dry run: an admission webhook said no"},
			{"PolicyDenied", Unseen, "told by a dry run: a ValidatingAdmissionPolicy said no"},
			{"LimitRange", Unseen, "told by a dry run: the namespace's limits"},
			{"PodsRefused", Unseen, "told by a dry run: another reason"},
		}}, findNoPods},
	}
}

func startRules() []rule {
	return []rule{
		{Rule{"scheduling-gates", "The Pods carry scheduling gates; the scheduler does not look at them until whoever set the gates takes them off.", []Reason{
			{"SchedulingGated", Provoked, "held on purpose"},
		}}, findGated},
		{Rule{"volume-claim", "The scheduler waits for a PersistentVolumeClaim.", []Reason{
			{"ClaimMissing", Provoked, "it does not exist"},
			{"ClaimNotBound", Provoked, "it has no volume yet"},
			{"ClaimDeleting", Unseen, "it is being deleted"},
		}}, findClaim},
		{Rule{"unschedulable", "No node takes the Pod: condition PodScheduled is False with reason Unschedulable. The scheduler's sentence is taken apart, and " +
			"with the right to list nodes each node is told with what it lacks: taints, labels, room.", []Reason{
			{"Unschedulable", Provoked, "the scheduler found no node"},
			{"SchedulerError", Unseen, "the scheduler itself failed"},
		}}, findUnschedulable},
		{Rule{"image", "A container waits for its image. ErrImagePull and ImagePullBackOff take turns and are one cause. backoffLimit does not end this.", []Reason{
			{"ImagePullBackOff", Provoked, "the registry or the runtime refused; it is tried again"},
			{"InvalidImageName", Provoked, "the name cannot be one; it never works"},
			{"ErrImageNeverPull", Provoked, "not on the node, and imagePullPolicy is Never; it never works"},
			{"RegistryUnavailable", Unseen, "the registry does not answer"},
			{"ImageInspectError", Unseen, "the runtime cannot read the image that it has"},
			{"SignatureValidationFailed", Unseen, "the image's signature is not accepted"},
		}}, findImage},
		{Rule{"config-missing", "The kubelet cannot make up a container's settings: a Secret, a ConfigMap or a key of it is missing, or runAsNonRoot meets an " +
			"image that runs as root.", []Reason{
			{"CreateContainerConfigError", Provoked, "what is missing is named; it starts by itself once that is there"},
		}}, findConfigMissing},
		{Rule{"container-not-created", "The runtime refuses to make or start a container.", []Reason{
			{"CreateContainerError", Unseen, "the container cannot be made"},
			{"RunContainerError", Unseen, "the container cannot be started"},
			{"PreCreateHookError", Unseen, "a hook of the kubelet failed"},
			{"PreStartHookError", Unseen, "a hook of the kubelet failed"},
			{"PostStartHookError", Unseen, "the container's postStart hook failed"},
		}}, findNotCreated},
		{Rule{"volume", "A Pod has a node and waits for its volumes. Only events of the Pod tell.", []Reason{
			{"FailedMount", Provoked, "a Secret, ConfigMap, key or mount is missing"},
			{"FailedAttachVolume", Unseen, "the volume cannot be attached to the node"},
		}}, findVolume},
		{Rule{"pod-sandbox", "The node cannot make the Pod's sandbox: runtime class, network, resources. Only events of the Pod tell.", []Reason{
			{"FailedCreatePodSandBox", Provoked, "in the runtime's words"},
		}}, findSandbox},
	}
}

func runRules() []rule {
	return []rule{
		{Rule{"node-lost", "A Pod is on a node whose kubelet does not answer: its Ready condition is not True, or its Lease is older than 50 s. The Pod may " +
			"still be running there.", []Reason{
			{"NodeLost", Provoked, "not ready, or gone"},
		}}, findNodeLost},
		{Rule{"container-failing", "A container of a living Pod ended badly and is started again by the kubelet: restartPolicy OnFailure, a restart policy of its own, " +
			"or a native sidecar.", []Reason{
			{"CrashLoopBackOff", Provoked, "with the exit code, the restarts, and when the next comes"},
		}}, findContainerFailing},
		{Rule{"sidecar-not-ready", "A native sidecar runs and its startup probe has not passed for 30 s, so the next container does not start.", []Reason{
			{"SidecarNotReady", Provoked, "with what the probe says"},
		}}, findSidecarNotReady},
		{Rule{"indexes-failed", "Some indexes of an Indexed Job are given up (backoffLimitPerIndex, or a FailIndex rule); the others go on.", []Reason{
			{"IndexesFailed", Provoked, "the Job fails at the end"},
		}}, findIndexesFailed},
		{Rule{"try-failed", "Pods failed and the Job goes on: a failed try is not a failed Job. The next Pod comes after a pause of 10 s that doubles.", []Reason{
			{"TryFailed", Provoked, "with the last failure, and when the next Pod comes"},
		}}, findTryFailed},
		{Rule{"helper-left", "The first container of a Pod ended 0 and another one, not a native sidecar, keeps the Pod alive.", []Reason{
			{"HelperStillRunning", Provoked, "the Job cannot complete"},
		}}, findHelperLeft},
	}
}

func remarkRules() []rule {
	return []rule{
		{Rule{"pods-ending", "Pods are being deleted: their grace, a finalizer, or a node that does not answer holds them.", []Reason{
			{"PodsEnding", Provoked, "their grace is not over"},
			{"PodsHeld", Provoked, "a finalizer holds them"},
			{"PodsOverdue", Provoked, "their grace is over, and their node has not confirmed the end"},
		}}, findPodsEnding},
		{Rule{"pods-disrupted", "Pods carry the condition DisruptionTarget: they were ended from outside.", []Reason{
			{"PreemptionByScheduler", Provoked, "a Pod of higher priority took the place"},
			{"EvictionByEvictionAPI", Provoked, "evicted: kubectl drain, an autoscaler"},
			{"DeletionByTaintManager", Provoked, "the node has a taint that is not tolerated"},
			{"DeletionByPodGC", Unseen, "the node is gone"},
			{"TerminationByKubelet", Provoked, "the node is short of something, or shuts down"},
		}}, findDisrupted},
		{Rule{"pods-gone", "Pods that the Job controller made are not there any more, and it did not remove them itself. Events name them.", []Reason{
			{"PodsGone", Provoked, "deleted by someone"},
			{"PodsRemoved", Provoked, "finished, and then deleted"},
			{"PodPreempted", Provoked, "for a Pod of higher priority"},
			{"PodEvicted", Unseen, "by the node or through the API"},
			{"PodEvictedByTaint", Unseen, "because of a taint of its node"},
		}}, findPodsGone},
		{Rule{"init-running", "A Pod is at one of its init steps.", []Reason{
			{"InitRunning", Provoked, "which step, since when"},
		}}, findInitRunning},
		{Rule{"work-queue", "A Job without completions: one success means that nothing new is started.", []Reason{
			{"WorkQueueEnding", Provoked, "it completes when the others have ended"},
		}}, findWorkQueue},
		{Rule{"selector-overlap", "The Job sets its selector itself, and Pods of others match it.", []Reason{
			{"SelectorOverlap", Provoked, "the Jobs count each other's Pods"},
		}}, findOverlap},
		{Rule{"holds-overridden", "spec.suspend is false although holds of ours are on the Job: somebody else started it. A watch drops the holds and never suspends it again.", []Reason{
			{"HoldsOverridden", Provoked, "started past what it waited for"},
		}}, findOverridden},
		{Rule{"restored-copy", "The Job's annotations name another uid than its own: it was restored from a backup, or copied.", []Reason{
			{"RestoredCopy", Provoked, "its state is read from the cluster only"},
		}}, findRestored},
		{Rule{"pods-hidden", "The caller may not list Pods, so the verdict is partial.", []Reason{
			{"PodsHidden", Provoked, "causes inside Pods stay unknown"},
		}}, findPodsHidden},
	}
}
