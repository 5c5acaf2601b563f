package commands

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/cluster"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/instance"
)

// readyLimit is how long starting waits for the node unless told otherwise.
const readyLimit = 2 * time.Minute

func addWait(cmd *cobra.Command, wait *time.Duration) {
	cmd.Flags().DurationVar(wait, "wait", readyLimit, "how long to wait until everything is ready; 0 does not wait")
	cmd.Flags().Lookup("wait").NoOptDefVal = readyLimit.String()
}

func newUpCommand(env Env) *cobra.Command {
	var o cluster.UpOptions
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the sandbox, or what of it does not run",
		Long: `Start the sandbox, or what of it does not run. The first time on a machine this builds Kubernetes from source.
If nothing of it runs, it starts empty.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			return c.Up(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar((*string)(&o.Runtime), "runtime", string(instance.Auto),
		"what runs Pods: containerd (real; root on Linux), kwok (simulated) or auto")
	addWait(cmd, &o.Wait)
	return cmd
}

func newDownCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the sandbox and remove all of it but the built programs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			return c.Down(cmd.Context())
		},
	}
}

func newResetCommand(env Env) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Make the sandbox a clean cluster again, at the same address with the same credentials",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			return c.Reset(cmd.Context(), wait)
		},
	}
	addWait(cmd, &wait)
	return cmd
}

const componentHelp = `Components: etcd, apiserver, scheduler, controllers; with a real node also forwarder, registry, containerd, kubelet;
with a simulated one kwok. "node" is the kubelet or kwok.`

func newStopCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use:     "stop COMPONENT...",
		Short:   "Stop components, to see what happens without them",
		Long:    "Stop components, to see what happens without them. Containers go on when the kubelet stops.\n\n" + componentHelp,
		Example: "  sandbox stop apiserver && sandbox start apiserver",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			return c.Stop(cmd.Context(), names...)
		},
	}
}

func newStartCommand(env Env) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "start COMPONENT...",
		Short: "Start components that were stopped",
		Long:  "Start components that were stopped.\n\n" + componentHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			return c.Start(cmd.Context(), wait, names...)
		},
	}
	addWait(cmd, &wait)
	return cmd
}
