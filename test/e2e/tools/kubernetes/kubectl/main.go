// Command kubectl: Kubernetes' own has a module of its own without a program in it.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() { cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()) }
