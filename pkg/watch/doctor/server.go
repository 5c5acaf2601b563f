package doctor

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// maxDrift is how far the clocks may be apart: less than that no person sees in what is shown.
const maxDrift = 2 * time.Second

func findSkew(v view) []Trouble {
	if v.Drift.Abs() <= maxDrift {
		return nil
	}
	word := "ahead of"
	if v.Drift < 0 {
		word = "behind"
	}
	return []Trouble{{Object: "server/clock", Finding: status.Finding{
		Severity: status.SeverityWarning, Reason: "ClockSkew",
		Message: fmt.Sprintf("the API server's clock is at least %s %s the one of this machine", v.Drift.Abs().Round(time.Second), word),
		Next:    "ages and limits are counted by the server's clock, and a time given with --until comes when it is there",
		Advice:  []status.Advice{{Command: "timedatectl status", Risk: status.RiskInspect, Why: "whether this machine's clock is kept in time"}},
	}}}
}

// oldestServer is the first version whose Job controller announces an end before the last Pod has ended
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions).
const oldestServer = "1.31"

func findServer(v view) []Trouble {
	got, err := version.ParseGeneric(v.Server)
	if err != nil || got.AtLeast(version.MustParseGeneric(oldestServer)) {
		return nil
	}
	return []Trouble{{Object: "server/version", Finding: status.Finding{
		Severity: status.SeverityWarning, Reason: "ServerOld",
		Message: fmt.Sprintf("the API server is %s; %s is the first that announces how a run ends before its last Pod has ended", v.Server, oldestServer),
		Advice:  []status.Advice{{Command: "kubectl work version", Risk: status.RiskInspect, Why: "the versions of both sides"}},
	}}}
}
