// Package mapping is between what a user writes and what the cluster keeps: it reads Works and plain Jobs from YAML or
// JSON, checks them, makes the Job a Work runs as, and makes the Work again of a Job.
//
// It owns the strict decoder with its positions, the offline rules, the record and hash of a Work on its Job, and the
// names of runs. It never talks to a cluster and reads neither clock, file nor environment.
//
// Everything wrong with the input is said at once, with file, document, line and the user's own path. The words of a
// YAML file mean to us what they mean to kubectl, or we refuse them: FuzzMeaning keeps that. What a real API server
// refused of the manifests people stumbled over, we refuse before it is sent: TestCasesAgreeWithTheServer.
package mapping
