package commands

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"golang.org/x/term"
)

// descriptor is what a stream of the process has and one in memory has not.
type descriptor interface{ Fd() uintptr }

func isTerminal(stream any) bool {
	d, ok := stream.(descriptor)
	return ok && term.IsTerminal(int(d.Fd()))
}

// width is that of the terminal the result goes to, 0 when it goes elsewhere.
func (a *app) width() int {
	d, ok := a.Out.(descriptor)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(d.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// confirm asks a question on stderr and reads the answer: anything but y or yes is no. A read that does not come back is
// left behind when ctx ends.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.In).ReadString('\n') // no answer is no
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return false, cause(ctx)
	case text := <-answer:
		text = strings.ToLower(strings.TrimSpace(text))
		return text == "y" || text == "yes", nil
	}
}
