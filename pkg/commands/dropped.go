package commands

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// keepOrTakeBack looks for fields that the server dropped from a Job that it has just made. Such a Job is another one than was
// asked for, so it is taken back, unless --allow-dropped keeps it. In a dry run there is nothing to take back.
func (s *submission) keepOrTakeBack(ctx context.Context, sent, made *batchv1.Job) error {
	paths, err := mapping.Dropped(sent, made)
	if err != nil || len(paths) == 0 {
		return err
	}
	what := fmt.Sprintf("the server dropped %s (%s)", strings.Join(paths, ", "), s.whyDropped(ctx))
	switch {
	case s.allowDropped:
		s.app.note("Warning: %s; job/%s is without", what, made.Name)
		return nil
	case s.dryRun == "server":
		return refuse("%s; a submit would be refused; --allow-dropped keeps it", what)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime) // an interrupt must not leave it behind
	defer cancel()
	if err := s.client.DeleteJob(ctx, made, metav1.DeletePropagationBackground, false); err != nil {
		return fmt.Errorf("%s; job/%s could not be taken back and runs without: delete it (kubectl work delete %s), or keep it; --allow-dropped would have; %w", what, made.Name, made.Name, err)
	}
	return refuse("%s; job/%s was taken back; --allow-dropped keeps it", what, made.Name)
}

// whyDropped names the version of the server, where it tells.
func (s *submission) whyDropped(ctx context.Context) string {
	info, err := s.client.ServerVersion(ctx)
	if err != nil {
		return "it is too old for it, or has the feature off"
	}
	return fmt.Sprintf("it is %s, or has the feature off", info.GitVersion)
}
