package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// Code is an exit code. The numbers are stable; docs/exit-codes.md explains them.
type Code int

// The exit codes.
const (
	CodeOK          Code = 0   // every Work succeeded, or the asked-for state was reached
	CodeRefused     Code = 1   // refused: nothing was changed
	CodeFailed      Code = 2   // a Work failed: the API server recorded it
	CodeTimeout     Code = 3   // still going
	CodeGone        Code = 4   // not found, or deleted with no known outcome
	CodeStuck       Code = 5   // it cannot start or go on without someone acting
	CodeHeld        Code = 6   // paused, or held by another manager
	CodeAccess      Code = 7   // no right, or refused credentials
	CodeUnreachable Code = 8   // the API server is out of reach
	CodePartial     Code = 9   // some documents created, others refused
	CodeInternal    Code = 70  // a bug
	CodeInterrupted Code = 130 // SIGINT
	CodeTerminated  Code = 143 // SIGTERM
)

// worstFirst is the order in which one code is chosen for several Works.
func worstFirst() []Code {
	return []Code{
		CodeInterrupted, CodeTerminated, CodeInternal, CodeAccess, CodeUnreachable, CodePartial, CodeFailed, CodeStuck,
		CodeGone, CodeHeld, CodeTimeout, CodeRefused, CodeOK,
	}
}

// worst is the code for several Works.
func worst(codes []Code) Code {
	for _, c := range worstFirst() {
		if slices.Contains(codes, c) {
			return c
		}
	}
	return CodeOK
}

// codeError ends the program with a code. Without Err everything was printed already.
type codeError struct {
	Code Code
	Err  error
}

func (e *codeError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}
func (e *codeError) Unwrap() error { return e.Err }

// refuse is an error about the input: nothing was changed.
func refuse(format string, args ...any) error {
	return &codeError{Code: CodeRefused, Err: fmt.Errorf(format, args...)}
}

// exitCode gives an error its code. What nobody classified is about the input: flags, files, admission.
func exitCode(err error) Code {
	var (
		coded       *codeError
		interrupt   *InterruptError
		caught      *panicError
		access      *cluster.AccessError
		unreachable *cluster.UnreachableError
	)
	switch {
	case err == nil:
		return CodeOK
	case errors.As(err, &caught):
		return CodeInternal
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, &interrupt):
		return interrupt.code()
	case errors.As(err, &access):
		return CodeAccess
	case errors.As(err, &unreachable):
		return CodeUnreachable
	case apierrors.IsNotFound(err):
		return CodeGone
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeRefused
}

// message is the text for a person, "" when everything was said.
func message(err error) string {
	var coded *codeError
	if errors.As(err, &coded) && coded.Err == nil {
		return ""
	}
	if problems, ok := errors.AsType[mapping.Problems](err); ok {
		return problems.Error()
	}
	return err.Error()
}
