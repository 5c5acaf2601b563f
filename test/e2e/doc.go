// Package e2e runs the built plugin on a real cluster, as its users do: one script a behaviour, in testdata/script.
//
// It owns what only a running program on a running cluster can show: exit codes, the two output streams, signals,
// timing, what the API server was asked. It never imports the plugin's packages; the contract is what it prints.
//
// Run it with `make e2e`, or with a sandbox that is up: go test ./test/e2e -run TestScripts/NAME. A run without a
// cluster fails and says so; it never skips. Environment: SANDBOX_KUBECONFIG (admin; default: what `bin/sandbox
// kubeconfig` prints), KUBECTL_WORK_BIN (default: the plugin is built), KUBECTL_BIN (default: `bin/sandbox kubectl`).
//
// A script is a testscript (github.com/rogpeppe/go-internal/testscript) with a namespace of its own, a kubeconfig
// whose context names it, kubectl-work and kubectl on PATH, and these commands besides the usual ones:
//
//	exits CODE CMD...             run it; the exit code must be CODE, or the word killed. stdout and stderr as usual
//	within D CMD...               CMD (a script command, or a program that must exit 0) must end in time
//	until [-t D] [-out RE] CMD... run a program until it exits 0, and its stdout matches
//	start NAME CMD...             run it in the background
//	shows [-t D] NAME STREAM RE   wait until the stdout or stderr of a background program matches
//	running NAME                  it must not have ended
//	signal NAME SIGNAL            send it INT, TERM, HUP, KILL, STOP or CONT
//	ended [-t D] NAME CODE        wait for its end; as exits
//	expand FILE...                put the values of ${VARIABLES} into a file
//	apply FILE...                 create the objects of a manifest, as someone else
//	update KIND/NAME JSON         merge-patch an object, as someone else
//	remove KIND/NAME              delete an object and what it owns, as someone else
//	evict JOB                     evict its Pods through the API, as kubectl drain does
//	node stop|start               the kubelet of the sandbox's only node; for testdata/outage, whose scripts run alone
//	webhook MESSAGE               start an admission webhook that denies everything; $WEBHOOK is its URL, $WEBHOOK_CA its CA
//	await [-t D] WHAT EXPR VALUE  wait until the JSONPath EXPR of WHAT is VALUE. WHAT: KIND/NAME, or pods/JOB
//	await [-t D] WHAT exists|gone
//	json FILE EXPR VALUE          the JSONPath EXPR of a file, stdout or stderr must be VALUE
//	cmpjson FILE WANT             every field of WANT must be in FILE with that value; "*" is any value
//	proxy ...                     the fault proxy, see proxyUsage
//
// JSONPath may be written without braces. Durations are Go's. In scripts $NS is the namespace, $CASES the folder of
// manifests, $ROOT the repository, $BIN the folder of the programs, $PROXY the kubeconfig of the fault proxy after `proxy start`.
//
// Each run of kubectl-work is also held to what every run must do: see manners.
package e2e
