package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/watch/doctor"
)

// repairRounds bounds how often is looked again because somebody else wrote what was to be put right.
const repairRounds = 3

// fixable are the places of what can be put right.
func (c *checkup) fixable() []int {
	var todo []int
	for i, t := range c.troubles {
		if t.Fix != nil {
			todo = append(todo, i)
		}
	}
	return todo
}

// repair puts right what was agreed to. What changed meanwhile is looked at again; what is found only then was not agreed to and
// is left.
func (c *checkup) repair(ctx context.Context, todo []int) []error {
	var problems []error
	troubles := c.troubles
	for range repairRounds {
		var changed []int
		for _, i := range todo {
			again, err := c.repairOne(ctx, i, troubles)
			if again {
				changed = append(changed, i)
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", render.DoctorName(c.items[i], c.all), err))
			}
			if ctx.Err() != nil || exitCode(err) == CodeUnreachable { // a right that is missing for one is not for others
				return problems
			}
		}
		if todo = changed; len(todo) == 0 {
			return problems
		}
		survey, err := doctor.Look(ctx, c.client, c.survey.Namespace)
		if err != nil {
			return append(problems, err)
		}
		troubles = doctor.Examine(survey)
	}
	for _, i := range todo {
		problems = append(problems, refuse("%s %s", render.DoctorName(c.items[i], c.all), c.items[i].Error))
	}
	return problems
}

// repairOne puts one thing right, by the newest look; again says that it changed since.
func (c *checkup) repairOne(ctx context.Context, i int, troubles []doctor.Trouble) (again bool, err error) {
	item := &c.items[i]
	item.Error = ""
	fix := fixOf(*item, troubles)
	if fix == nil {
		item.Fixed = "nothing to do any more"
	} else {
		err = doctor.Repair(ctx, c.client, fix)
		var changed *doctor.ChangedError
		switch {
		case errors.As(err, &changed):
			item.Error = err.Error()
			return true, nil
		case err != nil:
			item.Error = err.Error()
			return false, err
		}
		item.Fixed = fix.Does()
	}
	if c.output == formatText {
		fmt.Fprintf(c.app.Out, "%s: %s\n", render.DoctorName(*item, c.all), item.Fixed)
	}
	return false, nil
}

// fixOf finds what was found before in another look.
func fixOf(item render.DoctorItem, troubles []doctor.Trouble) doctor.Fix {
	for _, t := range troubles {
		if t.Namespace == item.Namespace && t.Object == item.Object && t.ID == item.ID {
			return t.Fix
		}
	}
	return nil
}

// agreed shows what would be done and asks, unless --yes.
func (c *checkup) agreed(ctx context.Context, todo []int) error {
	switch {
	case c.yes:
		return nil
	case !isTerminal(c.app.In):
		return refuse("%s can be put right, and there is no terminal to ask at; --yes does it", count(len(todo), "finding"))
	}
	fmt.Fprint(c.app.Err, c.repairText(todo))
	yes, err := c.app.confirm(ctx, "Put right?")
	switch {
	case err != nil:
		return err
	case !yes:
		return refuse("nothing was changed")
	}
	return nil
}

func (c *checkup) repairText(todo []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This puts %s right:\n", count(len(todo), "finding"))
	for n, i := range todo {
		if n == maxShown {
			fmt.Fprintf(&b, "  and %d more\n", len(todo)-maxShown)
			break
		}
		fmt.Fprintf(&b, "  %s: %s\n", render.DoctorName(c.items[i], c.all), c.troubles[i].Fix.Does())
	}
	return b.String()
}
