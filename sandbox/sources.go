// Package sandbox carries the sources of the programs that a sandbox runs, so that the driver can build them on any
// machine with Go, wherever the driver itself was copied to.
//
// It owns nothing but these files. The driver's identity for a built program is a hash over them.
package sandbox

import "embed"

// Kube holds the module and the main package of the one binary with all of Kubernetes in it.
//
//go:embed go.mod go.sum cmd/kube/*.go
var Kube embed.FS

// Kwok holds the module that pins kwok, which simulates nodes. Its files are not called go.mod and go.sum, because a
// folder that is a module of its own could not be carried by this one.
//
//go:embed kwok/kwok.mod kwok/kwok.sum
var Kwok embed.FS
