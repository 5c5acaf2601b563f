package commands

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/cluster"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/credentials"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/forward"
)

func newStatusCommand(env Env) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what runs; exit code 3 unless the sandbox is up and its node is Ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return &codeError{exitUsage, fmt.Errorf("--output=%s: want json or nothing", output)}
			}
			c, err := env.open()
			if err != nil {
				return err
			}
			status, err := c.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := printStatus(env, status, output); err != nil {
				return err
			}
			if status.State != cluster.Up {
				return &codeError{code: exitNotUp}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json, for scripts")
	return cmd
}

func printStatus(env Env, status cluster.Status, output string) error {
	if output == "json" {
		encoder := json.NewEncoder(env.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(status)
	}
	fmt.Fprintf(env.Out, "The sandbox is %s (%s).\n", status.State, status.Home)
	if status.Problem != "" {
		fmt.Fprintf(env.Out, "Why: %s\n", status.Problem)
	}
	if len(status.Components) == 0 {
		return nil
	}
	fmt.Fprintf(env.Out, "Runtime %s, API server %s, kubeconfig %s\n\n", status.Runtime, status.Server, status.Kubeconfig)
	table := tabwriter.NewWriter(env.Out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tSTATE\tPID\tLOG")
	for _, component := range status.Components {
		pid := "-"
		if component.Pid != 0 {
			pid = fmt.Sprint(component.Pid)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", component.Name, component.State, pid, component.Log)
	}
	return table.Flush()
}

func newKubeconfigCommand(env Env) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of a kubeconfig",
		Long: `Print the path of a kubeconfig. The user admin may do everything; tenant may do everything with Jobs and read their
Pods, logs and events in the namespace tenant, and nothing else.`,
		Example: "  export KUBECONFIG=$(sandbox kubeconfig)",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			known := false
			for _, name := range credentials.Users() {
				known = known || name == user
			}
			if !known {
				return &codeError{exitUsage, fmt.Errorf("--user=%s: want %s", user, strings.Join(credentials.Users(), " or "))}
			}
			c, err := env.open()
			if err != nil {
				return err
			}
			path, err := c.Kubeconfig(user)
			if err == nil {
				fmt.Fprintln(env.Out, path)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&user, "user", credentials.Admin, strings.Join(credentials.Users(), " or "))
	return cmd
}

func newKubectlCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl ARGUMENTS...",
		Short:              "Run the kubectl of the sandbox's version against the sandbox, as admin",
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			command, environ, err := c.Kubectl(args...)
			if err != nil {
				return err
			}
			return env.Replace(command[0], command, environ)
		},
	}
}

// newForwardCommand is how the driver runs itself as a component.
func newForwardCommand() *cobra.Command {
	var listen, target string
	cmd := &cobra.Command{
		Use: "forward", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return forward.Run(cmd.Context(), listen, target) },
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on")
	cmd.Flags().StringVar(&target, "to", "", "address to pass connections on to")
	return cmd
}
