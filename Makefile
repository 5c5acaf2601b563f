# kubectl work. `make` lists the targets.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/kubectl-work/kubectl-work/pkg/commands.version=$(VERSION)
CLUSTER ?= sandbox

# One set of flags for build, test and lint: with another the Go build cache holds everything twice.
export CGO_ENABLED := 0
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

E2E     = ./test/e2e/... ./test/leaks/... ./test/krew/... ./test/stress/...
LINT    = go tool -modfile=golangci-lint.mod golangci-lint
TOOL    = go tool -modfile=tools.mod
ALLOWED = Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,MIT

# with-sandbox runs a command on the sandbox: it starts one when none is up, and stops only what it started.
with-sandbox = if bin/sandbox status >/dev/null 2>&1; then $(1); else \
	trap 'bin/sandbox down' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM; bin/sandbox up && $(1); fi

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/kubectl-work, the plugin
	go build -ldflags "$(LDFLAGS)" -o bin/kubectl-work ./cmd/kubectl-work

.PHONY: sandbox
sandbox: ## bin/sandbox, the program that runs a real Kubernetes here
	cd sandbox && go build -o ../bin/sandbox ./cmd/sandbox

.PHONY: demo
demo: build ## a Work that succeeds and one that fails; CLUSTER=current uses your cluster
ifeq ($(CLUSTER),current)
	go run ./test/demo -cluster=current
else
	@$(MAKE) --no-print-directory sandbox
	@$(call with-sandbox,go run ./test/demo)
endif

.PHONY: demo-unprivileged
demo-unprivileged: build sandbox ## the demo as a user without rights, on a simulated node
	go build -o bin/demo ./test/demo
	go run ./test/unprivileged

.PHONY: test
test: unit e2e ## all tests; starts the sandbox when none is up

.PHONY: unit
unit: ## tests that need no cluster
	go test $$(go list ./... | grep -vE '/test/(e2e|leaks|stress|krew)(/|$$)')
	cd sandbox && go test ./cmd/sandbox ./internal/...

.PHONY: fuzz
fuzz: ## a million random documents each: decoding, meaning, conversion between versions
	go test ./pkg/mapping -run '^$$' -fuzz '^FuzzConversion$$' -fuzztime 1000000x
	go test ./pkg/mapping -run '^$$' -fuzz '^FuzzDecode$$' -fuzztime 1000000x
	go test ./pkg/mapping -run '^$$' -fuzz '^FuzzMeaning$$' -fuzztime 1000000x

.PHONY: e2e
e2e: build sandbox ## the built plugin on the sandbox, and installed by krew
	@$(call with-sandbox,KUBECTL_WORK_BIN=$(CURDIR)/bin/kubectl-work go test -count=1 -p=1 -timeout=30m $(E2E))

.PHONY: bench
bench: build sandbox ## start-up, list, describe and wait beside kubectl
	@$(call with-sandbox,KUBECTL_WORK_BIN=$(CURDIR)/bin/kubectl-work go run ./test/bench)

.PHONY: lint
lint: ## linters and formatting
	$(LINT) run ./...
	$(LINT) fmt --diff sandbox

.PHONY: verify
verify: lint ## lint, dead code, go.mod, licences, generated docs, krew manifest
	@dead=$$($(TOOL) deadcode -test ./...) && if [ -n "$$dead" ]; then echo "$$dead"; exit 1; fi
	go mod tidy -diff
	@out=$$(GOROOT=$$(go env GOROOT) $(TOOL) go-licenses check --allowed_licenses=$(ALLOWED) ./cmd/kubectl-work 2>&1) \
		|| { echo "$$out"; exit 1; }
	go test ./pkg/commands ./test/architecture ./test/krew

.PHONY: format
format: ## format the code
	$(LINT) fmt

.PHONY: sandbox-up
sandbox-up: sandbox ## start the sandbox and leave it running
	bin/sandbox up

.PHONY: sandbox-down
sandbox-down: sandbox ## stop the sandbox
	bin/sandbox down

.PHONY: sandbox-reset
sandbox-reset: sandbox ## make the sandbox a clean cluster again
	bin/sandbox reset
