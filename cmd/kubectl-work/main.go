package main

import (
	_ "github.com/olekukonko/tablewriter"
	_ "github.com/spf13/cobra"
	_ "go.yaml.in/yaml/v3"
	_ "k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/cli-runtime/pkg/printers"
	_ "k8s.io/klog/v2"
	_ "k8s.io/kubectl/pkg/util/templates"
	_ "sigs.k8s.io/yaml"
)

func main() {}
