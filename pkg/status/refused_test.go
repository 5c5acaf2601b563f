package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

// Each violation stands alone, with the field to set: the server's text is one line of five hundred characters.
func TestPodSecurityViolationsAreAList(t *testing.T) {
	t.Parallel()
	snapshots, err := snapshottest.Load("19-pod-security.7s")
	require.NoError(t, err)
	require.Equal(t, []string{
		`allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)`,
		`unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])`,
		`runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)`,
		`seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
	}, status.Of(snapshots[0]).Findings[0].Details)
}

// Events are kept for about an hour; without them a Job that never had a Pod is still not just "pending".
func TestNoPodsWithoutEvents(t *testing.T) {
	t.Parallel()
	snapshots, err := snapshottest.Load("18-no-service-account.33s")
	require.NoError(t, err)
	s := snapshots[0]
	s.Events = nil
	require.Equal(t, "NoPods", status.Of(s).Reason)
}

// What refused the last try may be gone, and the next try a minute away: that is not being stuck.
func TestARefusalThatIsOverIsNotStuck(t *testing.T) {
	t.Parallel()
	snapshots, err := snapshottest.Load("18-no-service-account.33s")
	require.NoError(t, err)
	s := snapshots[0]
	s.At = s.At.Add(time.Minute)
	require.True(t, status.Wants(s).Probe)
	s.Probe = &status.Probe{Refusal: "still refused"}
	require.Equal(t, status.ClassConfig, status.Of(s).Findings[0].Class)
	s.Probe = &status.Probe{}
	require.Equal(t, status.ClassNone, status.Of(s).Findings[0].Class)
	require.Equal(t, "ServiceAccountMissing", status.Of(s).Findings[0].Reason)
	require.Contains(t, status.Of(s).Findings[0].Message, "a dry run of its Pod is accepted now")
}
