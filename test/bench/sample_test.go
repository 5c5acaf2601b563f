package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMedianIsPerColumn(t *testing.T) {
	t.Parallel()
	got := median([]sample{{3, 10, 5}, {1, 30, 6}, {2, 20, 1}})
	assert.Equal(t, sample{2, 20, 5}, got)
}

func TestRatio(t *testing.T) {
	t.Parallel()
	a := sample{20 * time.Millisecond, 10 * time.Millisecond, 30 << 20}
	b := sample{80 * time.Millisecond, 40 * time.Millisecond, 60 << 20}
	assert.Equal(t, " 0.25  0.25  0.50", a.over(b))
}
