// Command kube is Kubernetes in one binary: etcd, the control plane, the kubelet and kubectl.
//
// The first argument names the component, the rest are its own flags, exactly as upstream documents them. Linking
// everything once saves four fifths of the build time and disk of separate binaries, which share most packages.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	_ "time/tzdata" // CronJobs with a time zone work on machines without a zone database

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// components maps the first argument to the command that it starts.
func components() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"etcd":                    newEtcdCommand,
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllers.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
		"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
	}
}

func main() {
	all := components()
	if len(os.Args) < 2 || all[os.Args[1]] == nil {
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "usage: kube COMPONENT [flags]\ncomponents: %s\n", strings.Join(names, ", "))
		os.Exit(2)
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	if name == "kubectl" { // kubectl maps errors to exit codes and texts itself
		if err := cli.RunNoErrOutput(all[name]()); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(cli.Run(all[name]()))
}
