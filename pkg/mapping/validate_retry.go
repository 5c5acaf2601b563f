package mapping

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// ParseFactor reads a retryFactor: a decimal number of at least 1, exactly. Its errors are in the words of messages.
func ParseFactor(text string) (*big.Rat, error) {
	const longest = 16
	whole, fraction, point := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if len(text) > longest || !digits(whole) || (point && !digits(fraction)) {
		return nil, fmt.Errorf("%s is not a decimal number", quoted(text))
	}
	factor, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%s is not a decimal number", quoted(text))
	}
	if factor.Cmp(big.NewRat(1, 1)) < 0 {
		return nil, fmt.Errorf("%s is less than 1", quoted(text))
	}
	return factor, nil
}

// retries checks maxRetries and retryFactor, and that their product is a backoffLimit.
func (v *validator) retries() {
	spec := &v.Work.Spec
	notNegative(v, "spec.maxRetries", spec.MaxRetries)
	if spec.MaxRetries != nil && spec.BackoffLimit != nil {
		v.add("spec.maxRetries", "maxRetries and backoffLimit"+v.lineOf("spec.backoffLimit")+" both say how often to retry", "keep one, maxRetries sets backoffLimit")
	}
	text := spec.RetryFactor
	if text == "" {
		text = v1beta2.DefaultRetryFactor
	}
	factor, err := ParseFactor(text)
	if err != nil {
		v.add("spec.retryFactor", err.Error(), `write a number of at least 1 in quotes, such as "1.5"`)
		return
	}
	if spec.MaxRetries == nil {
		return
	}
	product := new(big.Rat).Mul(factor, big.NewRat(int64(*spec.MaxRetries), 1))
	if product.Cmp(big.NewRat(math.MaxInt32, 1)) > 0 {
		v.add("spec.maxRetries", fmt.Sprintf("%d × %s is more than a backoffLimit can say, which is %d", *spec.MaxRetries, text, math.MaxInt32), "use less")
	}
}

// cleanup checks that the two places for the time to live agree.
func (v *validator) cleanup() {
	spec := &v.Work.Spec
	if spec.CleanupPolicy == nil {
		return
	}
	v.oneOf("spec.cleanupPolicy.propagation", spec.CleanupPolicy.Propagation,
		string(metav1.DeletePropagationForeground), string(metav1.DeletePropagationBackground), string(metav1.DeletePropagationOrphan))
	notNegative(v, "spec.cleanupPolicy.historyLimit", spec.CleanupPolicy.HistoryLimit)
	if spec.CleanupPolicy.TTLSecondsAfterFinished == nil {
		return
	}
	const path, other = "spec.cleanupPolicy.ttlSecondsAfterFinished", "spec.ttlSecondsAfterFinished"
	ttl := spec.CleanupPolicy.TTLSecondsAfterFinished
	notNegative(v, path, ttl)
	if outer := spec.TTLSecondsAfterFinished; outer != nil && *outer != *ttl {
		v.add(path, fmt.Sprintf("%d here, but %s%s says %d", *ttl, other, v.lineOf(other), *outer), "keep one")
	}
}
