package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Issue is one run that failed or is stuck, for a report.
type Issue struct {
	Job, Reason, Message string
	File                 string
	Line                 int // from 1
}

// GitLab is a code quality report, which GitLab shows in a merge request
// (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format). No issue is an empty list.
func GitLab(issues []Issue) ([]byte, error) {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type entry struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"` // the same for the same cause at the same place, so that it is not new each time
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	list := []entry{}
	for _, i := range issues {
		sum := sha256.Sum256([]byte(i.File + "\x00" + i.Job + "\x00" + i.Reason))
		list = append(list, entry{
			Description: Line(i.Message), CheckName: i.Reason, Fingerprint: hex.EncodeToString(sum[:16]), Severity: "critical",
			Location: location{Path: i.File, Lines: lines{Begin: i.Line}},
		})
	}
	data, err := json.MarshalIndent(list, "", "  ")
	return append(data, '\n'), err
}
