package render

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableLooksLikeKubectl(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, Table(&out, []string{"NAME", "PHASE", "AGE"}, [][]string{{"etl", "Running", "3m"}, {"a-longer-name", "", "12s"}}))
	require.Equal(t, "NAME            PHASE     AGE\netl             Running   3m\na-longer-name             12s\n", out.String())
}

func TestCellsCannotSteerATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, Table(&out, []string{"A"}, [][]string{{"x\x1b[31my\nz\x07"}}))
	require.Equal(t, "A\nxy z\n", out.String())
}
