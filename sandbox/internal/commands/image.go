package commands

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/cluster"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/image"
)

func newImageCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Make images out of busybox and put them where Pods find them",
		Long: `Make images out of busybox and put them where Pods find them. The sandbox's registry stands in for every registry of
the world, so any name can be made to exist, and what was not made is missed at once. Resetting forgets them all but
busybox:local.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listImages(cmd, env) },
	}
	cmd.AddCommand(newImageListCommand(env), newImagePushCommand(env), newImageRemoveCommand(env))
	return cmd
}

func newImageListCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the images of the registry and of the node", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listImages(cmd, env) },
	}
}

func listImages(cmd *cobra.Command, env Env) error {
	c, err := env.open()
	if err != nil {
		return err
	}
	images, err := c.Images(cmd.Context())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tREGISTRY\tNODE")
	for _, i := range images {
		fmt.Fprintf(table, "%s\t%s\t%s\n", strings.TrimPrefix(i.Name, "library/"), mark(i.Registry), mark(i.Node))
	}
	return table.Flush()
}

func mark(there bool) string {
	if there {
		return "yes"
	}
	return "-"
}

func newImagePushCommand(env Env) *cobra.Command {
	var o cluster.PushOptions
	var files []string
	cmd := &cobra.Command{
		Use:   "push NAME[:TAG] [-- COMMAND...]",
		Short: "Make an image and put it into the registry",
		Long: `Make an image out of busybox, with further files if wanted, and put it into the registry. COMMAND is what runs when a
Pod names none (default: sh).`,
		Example: `  sandbox image push registry.example/team/app:1 -- sh -c 'echo hello; exit 3'
  sandbox image push tool:local --file ./tool:/bin/tool --node`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return &codeError{exitUsage, fmt.Errorf("one name, then -- and the command: got %s", strings.Join(args, " "))}
			}
			var err error
			if o.Files, err = readFiles(files); err != nil {
				return &codeError{exitUsage, err}
			}
			o.Command = args[1:]
			c, err := env.open()
			if err != nil {
				return err
			}
			reference, err := c.Push(cmd.Context(), args[0], o)
			if err == nil {
				fmt.Fprintln(env.Out, reference)
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&files, "file", nil, "SOURCE:TARGET, a file to put into the image; may be given again")
	cmd.Flags().StringVar(&o.User, "user", "", "as whom the image runs, UID or UID:GID (default: root)")
	cmd.Flags().BoolVar(&o.OnNode, "node", false, "put it onto the node too, as if it had been pulled (for imagePullPolicy: Never)")
	return cmd
}

func readFiles(specs []string) ([]image.File, error) {
	var files []image.File
	for _, spec := range specs {
		source, target, ok := strings.Cut(spec, ":")
		if !ok || !strings.HasPrefix(target, "/") {
			return nil, fmt.Errorf("--file=%s: want SOURCE:TARGET with an absolute TARGET", spec)
		}
		info, err := os.Stat(source)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(source)
		if err != nil {
			return nil, err
		}
		files = append(files, image.File{Path: target, Mode: int64(info.Mode().Perm()), Data: data})
	}
	return files, nil
}

func newImageRemoveCommand(env Env) *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME[:TAG]...", Short: "Take images out of the registry and off the node", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := env.open()
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := c.RemoveImage(cmd.Context(), name); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
