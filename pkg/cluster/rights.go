package cluster

import (
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Right is what a caller may be allowed to do with a kind of object.
type Right struct{ Verb, Resource, Subresource string }

// Name is the resource with its subresource: pods/log.
func (r Right) Name() string {
	return request{resource: r.Resource, subresource: r.Subresource}.String()
}

// Lacking are those of the rights that the caller does not have in a namespace; "" is all namespaces. The server is asked
// for all rules at once, and about single rights only where its list may not be whole. A right that it does not tell of
// counts as had.
func (c *Client) Lacking(ctx context.Context, namespace string, rights []Right) ([]Right, error) {
	var rules authorizationv1.SubjectRulesReviewStatus
	rules.Incomplete = true
	if namespace != metav1.NamespaceAll { // there is no such list for all of them
		err := c.retry(ctx, request{verb: "create", resource: "selfsubjectrulesreviews", group: authorizationv1.GroupName}, func(ctx context.Context) error {
			review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
			answer, err := c.authz.SelfSubjectRulesReviews().Create(ctx, review, metav1.CreateOptions{})
			if err == nil {
				rules = answer.Status
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var lacking []Right
	for _, right := range rights {
		r := request{verb: right.Verb, resource: right.Resource, subresource: right.Subresource, namespace: namespace}
		if !allowed(rules.ResourceRules, r) && (!rules.Incomplete || c.mayNot(ctx, r)) {
			lacking = append(lacking, right)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return lacking, nil
}

// allowed tells whether one of the rules gives a right for every object.
func allowed(rules []authorizationv1.ResourceRule, r request) bool {
	has := func(list []string, words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(list, word) })
	}
	names := []string{r.String(), "*"}
	if r.subresource != "" {
		names = append(names, "*/"+r.subresource)
	}
	return slices.ContainsFunc(rules, func(rule authorizationv1.ResourceRule) bool {
		return len(rule.ResourceNames) == 0 && has(rule.Verbs, r.verb, "*") && has(rule.APIGroups, groupOf(r.resource), "*") && has(rule.Resources, names...)
	})
}
