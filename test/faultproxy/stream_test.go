package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFramesAreWholeEvents(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{"application/json", protobufType + ";stream=watch"} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			var one, two bytes.Buffer
			require.NoError(t, encodeEvent(&one, contentType, statusFor(410, "", "")))
			require.NoError(t, encodeEvent(&two, contentType, statusFor(500, "", "something longer, for another length")))
			stream := append(bytes.Clone(one.Bytes()), two.Bytes()...)
			stream = append(stream, "\x00\x00"...) // broken off in the next event

			next := frames(bytes.NewReader(stream), contentType)
			var got [][]byte
			for {
				data, err := next()
				if len(data) > 0 {
					got = append(got, data)
				}
				if err != nil {
					require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
					break
				}
			}
			assert.Equal(t, [][]byte{one.Bytes(), two.Bytes(), {0, 0}}, got)
		})
	}
}
