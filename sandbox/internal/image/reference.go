package image

import (
	"fmt"
	"regexp"
	"strings"
)

// Reference is the full name of an image, as Kubernetes completes what a Pod says.
type Reference struct{ Host, Path, Tag string }

// String is the name with everything in it.
func (r Reference) String() string { return r.Host + "/" + r.Path + ":" + r.Tag }

var (
	pathPattern = regexp.MustCompile(`^[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
	tagPattern  = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
)

// ParseReference completes a name: no host means docker.io, no folder there means library, no tag means latest.
func ParseReference(name string) (Reference, error) {
	r := Reference{Host: "docker.io", Path: name, Tag: "latest"}
	if host, rest, ok := strings.Cut(name, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		r.Host, r.Path = host, rest
	}
	if strings.Contains(r.Path, "@") {
		return r, fmt.Errorf("image %q: a digest cannot be chosen; name a tag", name)
	}
	if p, tag, ok := strings.Cut(r.Path, ":"); ok {
		r.Path, r.Tag = p, tag
	}
	if r.Host == "docker.io" && !strings.Contains(r.Path, "/") {
		r.Path = "library/" + r.Path
	}
	if !pathPattern.MatchString(r.Path) || !tagPattern.MatchString(r.Tag) {
		return r, fmt.Errorf("image %q is not of the form [HOST/]NAME[:TAG] with a name in lower case", name)
	}
	return r, nil
}
