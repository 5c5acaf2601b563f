package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// checkFrom checks what is submitted: files, or one more Job of a CronJob.
func (o *submitOptions) checkFrom() error {
	switch {
	case o.from == "" && o.name != "":
		return refuse("--name is about --from: a file names its Works itself")
	case o.from == "" && !o.files.given():
		return o.files.missing()
	case o.from == "":
		return nil
	case o.files.given():
		return refuse("--from and -f or -k exclude each other: give what to submit in one way")
	}
	_, err := cronJobName(o.from)
	if o.name != "" && len(validation.IsDNS1123Subdomain(o.name)) > 0 {
		err = errors.Join(err, refuse("--name %q is not the name of a Job: use lower case letters, digits, - and .", o.name))
	}
	return err
}

// cronJobName reads the value of --from.
func cronJobName(from string) (string, error) {
	kind, name, _ := strings.Cut(from, "/")
	kind = strings.ToLower(kind)
	switch {
	case slices.Contains([]string{"cronjob", "cronjobs", "cj", "cronjob.batch", "cronjobs.batch", "cronjobs.v1.batch"}, kind):
	case name != "" && (kind == "job" || kind == "jobs" || kind == "job.batch" || kind == "jobs.batch"):
		return "", refuse("--from %s: another run of a Job is kubectl work retry %s", from, name)
	default:
		return "", refuse("--from %s: give cronjob/NAME", from)
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", refuse("--from %s: %q is not the name of a CronJob; give cronjob/NAME", from, name)
	}
	return name, nil
}

// read gives the documents to submit, checked, and the connection: nil only in a dry run of the client's own.
func (o *submitOptions) read(ctx context.Context) ([]*mapping.Document, *cluster.Client, error) {
	if o.from != "" {
		return o.readFrom(ctx)
	}
	documents, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: o.skipKinds})
	if err != nil {
		return nil, nil, err
	}
	client, err := o.app.client()
	if err != nil && o.dryRun != "client" { // a dry run of the client's own needs no cluster
		return nil, nil, err
	}
	return documents, client, nil
}

// readFrom makes the document of one more Job of a CronJob.
func (o *submitOptions) readFrom(ctx context.Context) ([]*mapping.Document, *cluster.Client, error) {
	name, err := cronJobName(o.from)
	if err != nil {
		return nil, nil, err
	}
	client, err := o.app.client()
	if err != nil {
		return nil, nil, err
	}
	found, err := client.CronJob(ctx, client.Namespace, name)
	if cluster.NotFound(err) {
		return nil, nil, refuse("cronjob %q not found in namespace %s; nothing was created", name, client.Namespace)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--from %s: %w", o.from, err)
	}
	d := &mapping.Document{File: "cronjob/" + name, Work: mapping.FromCronJob(found, o.name)}
	return []*mapping.Document{d}, client, mapping.Validate(d).Err()
}
