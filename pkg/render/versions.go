package render

import (
	"fmt"
	"strings"
)

// Versions is the answer of version.
type Versions struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Client     ClientVersion  `json:"clientVersion"`
	Server     *ServerVersion `json:"serverVersion,omitempty"` // nil when it was not asked or did not answer
}

// ClientVersion is about the plugin. Field names are kubectl's where it has the field.
type ClientVersion struct {
	GitVersion string `json:"gitVersion"`
	GitCommit  string `json:"gitCommit,omitempty"`
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"`
	Libraries  string `json:"kubernetesLibraries,omitempty"` // of k8s.io/client-go, with a v0 for Kubernetes' v1
}

// ServerVersion is about the API server.
type ServerVersion struct {
	GitVersion string `json:"gitVersion"`
	Platform   string `json:"platform,omitempty"`
}

// Text is the answer for a person, a line each.
func (v Versions) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Client Version: %s\n", Line(v.Client.GitVersion))
	fmt.Fprintf(&b, "Go Version: %s %s\n", v.Client.GoVersion, v.Client.Platform)
	if v.Client.Libraries != "" {
		fmt.Fprintf(&b, "Kubernetes Libraries: %s\n", v.Client.Libraries)
	}
	if v.Server != nil {
		fmt.Fprintf(&b, "Server Version: %s\n", Line(v.Server.GitVersion))
	}
	return b.String()
}
