package doctor

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Owner is the object that an owner reference names, by its name alone.
type Owner struct{ Namespace, APIVersion, Kind, Name string }

// OwnerState is what was found under that name.
type OwnerState struct {
	UID     types.UID // "" when there is nothing
	Unknown bool      // the server has no such kind
}

func ownerOf(job *batchv1.Job, ref metav1.OwnerReference) Owner {
	return Owner{Namespace: job.Namespace, APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name}
}

// findOwners: what was not looked at is left alone, and so is a Job that is on its way out.
func findOwners(v view) []Trouble {
	var found []Trouble
	for _, job := range v.Jobs {
		for i, ref := range job.OwnerReferences {
			state, looked := v.Owners[ownerOf(job, ref)]
			if !looked || job.DeletionTimestamp != nil || state.UID == ref.UID {
				continue
			}
			what := fmt.Sprintf("its owner %s %s", ref.Kind, ref.Name)
			f := status.Finding{
				Severity: status.SeverityWarning, Reason: "OwnerGone", Message: what + " is gone",
				Next:     "the garbage collector deletes the Job",
				Evidence: []status.Evidence{{Object: "job/" + job.Name, Path: fmt.Sprintf(".metadata.ownerReferences[%d]", i), Value: string(ref.UID)}},
				Advice: []status.Advice{changes(job.Namespace, fmt.Sprintf(
					`kubectl patch job %s --type=json -p '[{"op":"test","path":"/metadata/ownerReferences/%d/uid","value":%q},{"op":"remove","path":"/metadata/ownerReferences/%d"}]'`,
					job.Name, i, ref.UID, i), "takes the reference off, so that the Job stays")},
			}
			switch {
			case state.Unknown:
				f.Reason, f.Message = "OwnerKindUnknown", fmt.Sprintf("%s is of a kind that the server does not have (%s)", what, ref.APIVersion)
				f.Next = "nothing, for ever; if the kind comes back without the object, the garbage collector deletes the Job"
			case state.UID != "":
				f.Reason, f.Message = "OwnerReplaced", fmt.Sprintf("%s is another one than it was (uid %s)", what, state.UID)
			}
			found = append(found, aboutJob(job, f))
		}
	}
	return found
}
