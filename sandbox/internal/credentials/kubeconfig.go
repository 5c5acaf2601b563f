package credentials

import (
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Kubeconfig is the file by which one user reaches one sandbox. Field names are those of the file format.
type Kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Clusters       []namedCluster `json:"clusters"`
	Users          []namedUser    `json:"users"`
	Contexts       []namedContext `json:"contexts"`
	CurrentContext string         `json:"current-context"`
}

type namedCluster struct {
	Name    string  `json:"name"`
	Cluster cluster `json:"cluster"`
}

type cluster struct {
	Server    string `json:"server"`
	Authority []byte `json:"certificate-authority-data"`
}

type namedUser struct {
	Name string `json:"name"`
	User user   `json:"user"`
}

type user struct {
	Certificate []byte `json:"client-certificate-data"`
	Key         []byte `json:"client-key-data"`
}

type namedContext struct {
	Name    string     `json:"name"`
	Context contextRef `json:"context"`
}

type contextRef struct {
	Cluster   string `json:"cluster"`
	User      string `json:"user"`
	Namespace string `json:"namespace"`
}

// WriteKubeconfig writes the kubeconfig of the subject with the given name to path. It holds everything itself.
func (a *Authority) WriteKubeconfig(path, server, name, namespace string) error {
	const clusterName = "sandbox"
	parts := [3][]byte{}
	for i, file := range []string{"ca.crt", name + ".crt", name + ".key"} {
		var err error
		if parts[i], err = os.ReadFile(filepath.Join(a.dir, file)); err != nil {
			return err
		}
	}
	data, err := yaml.Marshal(Kubeconfig{
		APIVersion:     "v1",
		Kind:           "Config",
		Clusters:       []namedCluster{{clusterName, cluster{Server: server, Authority: parts[0]}}},
		Users:          []namedUser{{name, user{Certificate: parts[1], Key: parts[2]}}},
		Contexts:       []namedContext{{clusterName, contextRef{Cluster: clusterName, User: name, Namespace: namespace}}},
		CurrentContext: clusterName,
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
