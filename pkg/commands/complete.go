package commands

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// completionTime bounds what a person waits for after a Tab.
const completionTime = 2 * time.Second

var errCompletionTime = errors.New("completion took too long")

// completeJobs suggests names of Jobs, and of Works whose runs are there, without those already typed. What goes wrong
// gives no suggestions: a shell has no place for an error.
func (a *app) completeJobs(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var names []string
	a.ask(cmd, func(ctx context.Context, c *cluster.Client) error {
		jobs, err := c.Jobs(ctx, c.Namespace, "")
		for i := range jobs {
			names = append(names, jobs[i].Name, mapping.WorkName(&jobs[i]))
		}
		return err
	})
	return suggest(names, args, toComplete), cobra.ShellCompDirectiveNoFileComp
}

// suggest picks the names that toComplete begins, sorted, without those of args. A kind before a slash is kept.
func suggest(names, args []string, toComplete string) []string {
	prefix := ""
	if kind, rest, found := strings.Cut(toComplete, "/"); found {
		prefix, toComplete = kind+"/", rest
	}
	typed := map[string]bool{}
	for _, arg := range args {
		_, name, found := strings.Cut(arg, "/")
		if !found {
			name = arg
		}
		typed[name] = true
	}
	var picked []string
	for _, name := range names {
		if strings.HasPrefix(name, toComplete) && !typed[name] {
			picked = append(picked, prefix+name)
		}
	}
	slices.Sort(picked)
	return slices.Compact(picked)
}

// ask runs one question to the cluster for a completion: once, in little time, in silence.
func (a *app) ask(cmd *cobra.Command, question func(context.Context, *cluster.Client) error) {
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), completionTime, errCompletionTime)
	defer cancel()
	c, err := cluster.New(cluster.Options{Getter: a.config, UserAgent: "kubectl-work/" + version, Now: a.Now, Crash: a.crash})
	if err != nil {
		return
	}
	if err := question(ctx, c); err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
}

// completeFlags adds the completion of the flags that many commands have. It wants the whole tree.
func (a *app) completeFlags(root *cobra.Command) {
	complete := func(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
		if cmd.Flag(flag) == nil {
			return
		}
		if _, has := cmd.GetFlagCompletionFunc(flag); has {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
			panic(err) // the flag is there and has no completion
		}
	}
	complete(root, "namespace", a.completeNamespaces)
	complete(root, "context", a.completeContexts)
	for _, cmd := range root.Commands() {
		if flag := cmd.Flag("output"); flag != nil {
			complete(cmd, flag.Name, cobra.FixedCompletions(formatsIn(flag.Usage), cobra.ShellCompDirectiveNoFileComp))
		}
		complete(cmd, "dry-run", cobra.FixedCompletions([]string{"none", "client", "server"}, cobra.ShellCompDirectiveNoFileComp))
	}
}

// formatsIn are the formats that a flag's help names: TestEveryOutputFlagCompletes keeps the two together.
func formatsIn(usage string) []string {
	var formats []string
	for _, f := range []format{formatJSON, formatYAML, formatName, formatWide, jsonPathPrefix} {
		if strings.Contains(usage, string(f)) {
			formats = append(formats, string(f))
		}
	}
	return formats
}

func (a *app) completeNamespaces(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var names []string
	a.ask(cmd, func(ctx context.Context, c *cluster.Client) (err error) {
		names, err = c.Namespaces(ctx)
		return err
	})
	return suggest(names, nil, toComplete), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeContexts(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	config, err := a.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var picked []string // a context's name may hold a slash
	for name := range maps.Keys(config.Contexts) {
		if strings.HasPrefix(name, toComplete) {
			picked = append(picked, name)
		}
	}
	slices.Sort(picked)
	return picked, cobra.ShellCompDirectiveNoFileComp
}
