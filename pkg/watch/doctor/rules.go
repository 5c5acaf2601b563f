package doctor

import "github.com/kubectl-work/kubectl-work/pkg/status"

// rules in their order: what keeps runs from going on, what is left behind, what only looks wrong, what the caller and the
// cluster lack.
func rules() []rule {
	return []rule{
		{status.Rule{ID: "hold-stuck", About: "A held run that nobody moves, or that nothing but a person can release. Only clients end holds: kubectl work watch, " +
			"or a kubectl work wait for the run.", Reasons: []status.Reason{
			{Name: "NobodyMoves", Proof: status.Provoked, About: "for over a minute it could have gone on: what it waits for has ended or is there, its turn has come, or its pause is over"},
			{Name: "DependencyGone", Proof: status.Provoked, About: "the run that it waits for is not there any more"},
			{Name: "DependencyCircle", Proof: status.Provoked, About: "it waits for a run that waits for it"},
			{Name: "HoldsUnreadable", Proof: status.Provoked, About: "the holds annotation cannot be read, so no client acts on it"},
		}}, findStuck},
		{status.Rule{ID: "cleanup-finalizer", About: "A run carries our finalizer (spec.cleanupPolicy.finalizer), and no client has taken it off since its end or deletion. " +
			"--fix takes it off.", Reasons: []status.Reason{
			{Name: "FinalizerHolds", Proof: status.Provoked, About: "its deletion cannot end"},
			{Name: "FinalizerLeft", Proof: status.Provoked, About: "it has ended, and could not be deleted"},
		}}, findFinalizers},
		{status.Rule{ID: "holds-overridden", About: "Somebody else started a run that holds of ours still name: spec.suspend is the truth. --fix drops the holds.", Reasons: []status.Reason{
			{Name: "HoldsOverridden", Proof: status.Provoked, About: "its holds mean nothing any more"},
		}}, findOverridden},
		{status.Rule{ID: "anchor-unused", About: "The ConfigMap that owns the runs of a Work (spec.owner.anchor), and no run is left. --fix removes it.", Reasons: []status.Reason{
			{Name: "AnchorUnused", Proof: status.Provoked, About: "nothing else would ever remove it"},
		}}, findAnchors},
		{status.Rule{ID: "slot-unused", About: "The Lease with which the runs of a concurrency group take turns, and no run or Pod of the group is left. --fix removes it.", Reasons: []status.Reason{
			{Name: "SlotUnused", Proof: status.Provoked, About: "the next run of the group would make it anew"},
		}}, findSlots},
		{status.Rule{ID: "stray-pods", About: "Pods with the label of a Job that no object controls: the Job was deleted and left them (--cascade=orphan). Nothing counts, " +
			"restarts or removes them.", Reasons: []status.Reason{
			{Name: "StrayPods", Proof: status.Provoked, About: "they stay until somebody deletes them"},
		}}, findStrays},
		{status.Rule{ID: "owner-lost", About: "A Job names an owner that is not there. The garbage collector deletes such a Job, unless it cannot tell.", Reasons: []status.Reason{
			{Name: "OwnerKindUnknown", Proof: status.Provoked, About: "the server has no such kind, so the garbage collector waits for ever"},
			{Name: "OwnerGone", Proof: status.Unseen, About: "the owner is gone"},
			{Name: "OwnerReplaced", Proof: status.Unseen, About: "another object has the owner's name"},
		}}, findOwners},
		{status.Rule{ID: "restored-copy", About: "The Job's annotations name another uid than its own: it was restored from a backup, or copied. No client moves such a run.", Reasons: []status.Reason{
			{Name: "RestoredCopy", Proof: status.Provoked, About: "its holds and records are those of another run"},
		}}, findRestored},
		{status.Rule{ID: "right-missing", About: "The caller may not do what some command needs. Jobs that cannot be read are an error, what wait and describe miss is a warning, " +
			"the rest is said and no more.", Reasons: []status.Reason{
			{Name: "RightMissing", Proof: status.Provoked, About: "docs/rbac.yaml has all that there are"},
		}}, findRights},
		{status.Rule{ID: "clock-skew", About: "The clocks of this machine and of the API server differ by more than two seconds. Ages, limits and the times that are " +
			"typed are all held against the server's.", Reasons: []status.Reason{
			{Name: "ClockSkew", Proof: status.Provoked, About: "the Date of the server's answers tells"},
		}}, findSkew},
		{status.Rule{ID: "server-old", About: "The API server is older than 1.31. It announces no end before the last Pod has ended (FailureTarget, SuccessCriteriaMet), so waits end later.", Reasons: []status.Reason{
			{Name: "ServerOld", Proof: status.Unseen, About: "what is told of runs is right, and late"},
		}}, findServer},
	}
}
