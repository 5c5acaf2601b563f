package commands

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// version is stamped by the build: -ldflags "-X github.com/kubectl-work/kubectl-work/pkg/commands.version=v1.2.3". It is
// the one package-level variable, because the linker can set nothing else; nothing in the program writes it.
var version = "dev"

const unstamped = "dev"

type versionOptions struct {
	app    *app
	client bool
	output format
}

func newVersionCommand(a *app, run func(context.Context, *versionOptions) error) *cobra.Command {
	o := &versionOptions{app: a}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of the plugin and of the cluster",
		GroupID: groupOther,
		Long: templates.LongDesc(`
			Print the version of the plugin, of the Kubernetes libraries in it, and of the API server of the current context.

			The server is asked once. When it does not answer, the versions of the plugin are printed all the same and the exit
			code is 8.`),
		Example: templates.Examples(`
			# Both versions
			kubectl work version

			# The plugin's only: nothing is sent
			kubectl work version --client

			# For a bug report
			kubectl work version -o yaml`),
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("retry-for") {
				a.retryFor = 0 // the question is whether and what it answers now
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runVersion(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.client, "client", false, "The plugin's version only; no server is asked")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml or jsonpath=TEMPLATE")
	return cmd
}

func (o *versionOptions) validate() error {
	return checkFormat(o.output, formatJSON, formatYAML, jsonPathPrefix)
}

func runVersion(ctx context.Context, o *versionOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	build, _ := debug.ReadBuildInfo()
	v := render.Versions{APIVersion: render.OutputVersion, Kind: "Versions", Client: clientVersion(version, build)}
	var serverErr error
	if !o.client {
		v.Server, serverErr = o.serverVersion(ctx)
	}
	if o.output != formatText {
		if err := printObject(o.app.Out, o.output, v); err != nil {
			return err
		}
		return serverErr
	}
	if _, err := fmt.Fprint(o.app.Out, v.Text()); err != nil {
		return err
	}
	return serverErr
}

func (o *versionOptions) serverVersion(ctx context.Context) (*render.ServerVersion, error) {
	client, err := o.app.client()
	if err != nil {
		return nil, err
	}
	info, err := client.ServerVersion(ctx)
	if err != nil {
		return nil, err
	}
	return &render.ServerVersion{GitVersion: info.GitVersion, Platform: info.Platform}, nil
}

// clientVersion is what the build says of itself. A build without a stamp (go install) knows its module version, and a
// build in a checkout the commit.
func clientVersion(stamp string, build *debug.BuildInfo) render.ClientVersion {
	v := render.ClientVersion{GitVersion: stamp, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build == nil {
		return v
	}
	if module := build.Main.Version; stamp == unstamped && module != "" && module != "(devel)" {
		v.GitVersion = module
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			v.GitCommit = s.Value
		}
	}
	for _, dep := range build.Deps {
		if dep.Path == "k8s.io/client-go" {
			v.Libraries = dep.Version
		}
	}
	return v
}
