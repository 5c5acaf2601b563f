package render

import (
	"fmt"
	"strings"
)

// GitHubError is the workflow command that marks a line of a file in a pull request, escaped as GitHub's own toolkit does
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
func GitHubError(file string, line int, message string) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::error file=%s,line=%d::%s", property.Replace(file), line, data.Replace(clean(message, true)))
}
