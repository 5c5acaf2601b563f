package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// containerNames are those of the template, for did-you-mean.
func (v *validator) containerNames() []string {
	var names []string
	for _, c := range v.Work.Spec.Template.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range v.Work.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	return names
}

// pod checks what is most often wrong with a Pod template. The server's dry run knows the rest.
func (v *validator) pod() {
	pod := &v.Work.Spec.Template.Spec
	if len(pod.Containers) == 0 {
		v.add(podPath+".containers", "there is no container", "add containers with a name, an image and a command")
	}
	volumes := v.volumes(pod.Volumes)
	seen := map[string]string{}
	for i := range pod.InitContainers {
		v.container(podPath+".initContainers["+strconv.Itoa(i)+"]", &pod.InitContainers[i], seen, volumes)
	}
	for i := range pod.Containers {
		v.container(podPath+".containers["+strconv.Itoa(i)+"]", &pod.Containers[i], seen, volumes)
	}
}

// volumes checks the volumes and returns their names.
func (v *validator) volumes(volumes []corev1.Volume) []string {
	var names []string
	for i, volume := range volumes {
		path := podPath + ".volumes[" + strconv.Itoa(i) + "].name"
		v.dnsLabel(path, volume.Name, "volume")
		if volume.Name != "" && slices.Contains(names, volume.Name) {
			v.add(path, "there is another volume "+quoted(volume.Name), "give each a name of its own")
		}
		names = append(names, volume.Name)
	}
	return names
}

func (v *validator) dnsLabel(path, name, what string) {
	switch {
	case name == "":
		v.add(path, "the "+what+" has no name", "add one")
	case len(name) > validation.DNS1123LabelMaxLength:
		v.add(path, fmt.Sprintf("the name has %d characters, %d is the most", len(name), validation.DNS1123LabelMaxLength), "shorten it")
	case len(validation.IsDNS1123Label(name)) > 0:
		v.add(path, notAName(name, what+" name", lower), "for example "+legalName(name, validation.DNS1123LabelMaxLength, false))
	}
}

func (v *validator) container(path string, c *corev1.Container, seen map[string]string, volumes []string) {
	v.dnsLabel(path+".name", c.Name, "container")
	if other, ok := seen[c.Name]; ok && c.Name != "" {
		v.add(path+".name", "there is another container "+quoted(c.Name)+v.lineOf(other), "give each a name of its own")
	}
	seen[c.Name] = path + ".name"
	switch {
	case c.Image == "":
		v.add(path+".image", "the container has no image", "add one")
	case strings.TrimSpace(c.Image) != c.Image:
		v.add(path+".image", quoted(c.Image)+" begins or ends with a blank", "take it out")
	}
	v.oneOf(path+".imagePullPolicy", string(c.ImagePullPolicy), "Always", "IfNotPresent", "Never")
	for i := range c.Env {
		v.variable(path+".env["+strconv.Itoa(i)+"]", &c.Env[i])
	}
	for i, mount := range c.VolumeMounts {
		at := path + ".volumeMounts[" + strconv.Itoa(i) + "]"
		if mount.MountPath == "" {
			v.add(at+".mountPath", "a mountPath is missing", "say where in the container the volume is to be")
		}
		if slices.Contains(volumes, mount.Name) {
			continue
		}
		fix := "add it to spec.template.spec.volumes"
		if near := nearest(mount.Name, volumes); near != "" {
			fix = "did you mean " + near + "?"
		}
		v.add(at+".name", "there is no volume "+quoted(mount.Name), fix)
	}
	for name, request := range c.Resources.Requests {
		at := path + ".resources.requests[" + string(name) + "]"
		if request.Sign() < 0 {
			v.add(at, request.String()+" is negative", "use 0 or more")
		}
		if limit, ok := c.Resources.Limits[name]; ok && request.Cmp(limit) > 0 {
			v.add(at, request.String()+" is more than the limit, "+limit.String(), "raise the limit or lower the request")
		}
	}
}

func (v *validator) variable(path string, e *corev1.EnvVar) {
	if e.Name == "" {
		v.add(path+".name", "the variable has no name", "add one")
	} else if strings.Contains(e.Name, "=") {
		v.add(path+".name", quoted(e.Name)+` is not a legal name of a variable: "=" is not allowed`, "write name and value apart")
	}
	from := e.ValueFrom
	if from == nil {
		return
	}
	if e.Value != "" {
		v.add(path+".valueFrom", "variable "+e.Name+": value and valueFrom are both there", "keep one")
	}
	sources := 0
	for _, set := range []bool{from.FieldRef != nil, from.ResourceFieldRef != nil, from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil, from.FileKeyRef != nil} {
		if set {
			sources++
		}
	}
	if sources != 1 {
		v.add(path+".valueFrom", fmt.Sprintf("variable %s: valueFrom has %d sources, one is wanted", e.Name, sources),
			"use one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef")
	}
}
