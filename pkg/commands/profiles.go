package commands

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// profiles finds the profiles that Works name: in files that were given, else in ConfigMaps. Each is read once.
type profiles struct {
	app    *app
	client *cluster.Client // nil: only files
	files  map[string]string
	read   memo[[2]string, *mapping.Profile] // by namespace and name
}

func addProfiles(flags *pflag.FlagSet, files *map[string]string) {
	flags.StringToStringVar(files, "profile", nil, "A file for a profile that Works name, as NAME=FILE (default: ConfigMap "+mapping.ProfilePrefix+"NAME, key "+mapping.ProfileKey+")")
}

// of is the profile of a document, nil when it names none.
func (p *profiles) of(ctx context.Context, w *v1beta2.Work, namespace string) (*mapping.Profile, error) {
	name := w.Spec.Profile
	if name == "" {
		return nil, nil
	}
	return p.read.of([2]string{namespace, name}, func() (*mapping.Profile, error) {
		from, data, err := p.source(ctx, namespace, name)
		if err != nil {
			return nil, err
		}
		profile, problems := mapping.ReadProfile(from, data)
		if len(problems) > 0 {
			return nil, problems
		}
		return profile, nil
	})
}

// source is the text of a profile, and where it was found.
func (p *profiles) source(ctx context.Context, namespace, name string) (from string, data []byte, err error) {
	if file := p.files[name]; file != "" {
		s, err := readFile(ctx, p.app, file)
		return s.name, s.data, err
	}
	config := mapping.ProfilePrefix + name
	if p.client == nil {
		return "", nil, refuse("spec.profile: %s is read from ConfigMap %s, and a client dry run asks no cluster; give --profile %s=FILE", name, config, name)
	}
	values, err := p.client.ConfigValues(ctx, namespace, config)
	if cluster.NotFound(err) {
		return "", nil, refuse("spec.profile: there is no ConfigMap %s in namespace %s; make it (key %s), or give --profile %s=FILE", config, namespace, mapping.ProfileKey, name)
	}
	if err != nil {
		return "", nil, fmt.Errorf("spec.profile: %w", err)
	}
	text, has := values[mapping.ProfileKey]
	if !has {
		return "", nil, refuse("spec.profile: ConfigMap %s has no key %s", config, mapping.ProfileKey)
	}
	return "configmap/" + config, []byte(text), nil
}
