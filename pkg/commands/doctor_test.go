package commands

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch/doctor"
)

// fixes is a checkup that found so many things that can be put right, and one that cannot.
func fixes(n int) *checkup {
	c := &checkup{doctorOptions: &doctorOptions{fix: true, app: &app{Env: Env{In: strings.NewReader("y\n"), Out: io.Discard, Err: io.Discard}}}}
	for i := range n {
		c.troubles = append(c.troubles, doctor.Trouble{Namespace: "data", Object: fmt.Sprintf("job/%d", i), Fix: doctor.DropHolds{Job: &batchv1.Job{}}})
	}
	c.troubles = append(c.troubles, doctor.Trouble{Namespace: "data", Object: "job/stuck", Finding: status.Finding{Severity: status.SeverityError}})
	for _, t := range c.troubles {
		c.items = append(c.items, render.DoctorItem{Namespace: t.Namespace, Object: t.Object, Finding: t.Finding})
	}
	return c
}

// Where nobody can be asked, nothing is put right on a guess.
func TestNothingIsPutRightUnasked(t *testing.T) {
	t.Parallel()
	c := fixes(2)
	assert.Equal(t, []int{0, 1}, c.fixable())
	err := c.agreed(t.Context(), c.fixable())
	assert.Equal(t, CodeRefused, exitCode(err))
	require.ErrorContains(t, err, "2 findings can be put right, and there is no terminal to ask at; --yes does it")
	c.yes = true
	require.NoError(t, c.agreed(t.Context(), c.fixable()))
	assert.Equal(t, CodeRefused, exitCode((&doctorOptions{yes: true}).validate()))
}

func TestTheQuestionNamesWhatIsPutRight(t *testing.T) {
	t.Parallel()
	c := fixes(22)
	c.all = true
	text := c.repairText(c.fixable())
	assert.True(t, strings.HasPrefix(text, "This puts 22 findings right:\n  job/0 in namespace data: holds dropped\n"), text)
	assert.True(t, strings.HasSuffix(text, "  job/19 in namespace data: holds dropped\n  and 2 more\n"), text)
}

// What was put right does not count any more.
func TestTheCodeOfDoctorIsAboutWhatIsStillSo(t *testing.T) {
	t.Parallel()
	c := fixes(0)
	assert.Equal(t, CodeStuck, exitCode(together(c.stuck())))
	c.items[0].Fixed = "removed"
	assert.Empty(t, c.stuck())
}
