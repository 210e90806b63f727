# A thin menu over CMake presets (CMakePresets.json) and CTest; `make help` explains it. Nothing has
# to be installed first on Debian 12: each target brings the packages of .ci/packages that it needs.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# Suites for `make asan`; empty: all.
SUITES ?=
empty :=
SUITES_REGEX = $(if $(SUITES),'^($(subst $(empty) ,|,$(strip $(SUITES))))$$')
CTEST = ctest --no-tests=error --output-on-failure --parallel $(JOBS)
SOURCES = find controller federation storage test -name '*.cc' -o -name '*.h'
CALDERA = build/release/caldera

.DEFAULT_GOAL := help
.PHONY: help deps build demo tour sandbox programs test e2e check bench bench-gate fuzz format lint format-check asan

help: ## Show this menu
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

deps: ## Install the Debian packages that are missing (as root)
	@.ci/deps

build: ## Build the program: build/release/caldera
	@.ci/deps build
	@cmake --preset release $(if $(wildcard build/release/build.ninja),>/dev/null)
	@cmake --build --preset release --target caldera

demo: programs ## See it live: a sandbox of four clusters, the controller, examples/quickstart
	@examples/quickstart/demo.sh build/release

tour: build ## Validate, plan, explain and record examples/quickstart, without a cluster
	@examples/quickstart/tour.sh $(CALDERA)

sandbox: programs ## A sandbox with the controller, to try kubectl on, until Ctrl-C
	@examples/quickstart/sandbox.sh build/release

programs: build
	@cmake --build --preset release --target caldera-controller --target caldera-sandbox

test: ## Build and run every test (a few minutes on two cores)
	@.ci/deps build
	@cmake --preset release $(if $(wildcard build/release/build.ninja),>/dev/null)
	@cmake --build --preset release
	@$(CTEST) --test-dir build/release

e2e: ## The controller on real API servers: test/e2e/README.md
	@.ci/deps build e2e
	@$(if $(CALDERA_E2E_TOOLS),true,test/e2e/tools/build.sh build/e2e/bin)
	@cmake --preset release $(if $(wildcard build/release/build.ninja),>/dev/null)
	@cmake --build --preset release --target caldera --target caldera-controller --target caldera-sandbox
	@test/e2e/run.py $(E2E_ARGS)

check: format-check lint test asan ## All that must be clean before a change lands

bench: build ## Every benchmark: planning, rounds, ledger, simulations (build/bench.json)
	@cmake --build --preset release --target bench_programs
	@test/bench/bench.sh $(BENCH_ARGS) build/release build/bench.json

bench-gate: ## Only what has a limit in test/bench/limits.txt; fails above one
	@$(MAKE) --no-print-directory bench BENCH_ARGS=--gate

fuzz: ## Fuzz each target for FUZZ_SECONDS (60)
	@.ci/deps
	@cmake --preset fuzz -DCALDERA_FUZZ_SECONDS=$(FUZZ_SECONDS) >/dev/null
	@cmake --build --preset fuzz --target fuzz_targets
	@$(CTEST) --test-dir build/fuzz --label-regex fuzz

format: ## Format every source file
	@.ci/deps check
	@$(SOURCES) | xargs clang-format-14 -i

lint: ## clang-tidy over every source file; every warning is an error
	@.ci/deps
	@cmake --preset release >/dev/null
	@.ci/lint build/release

format-check:
	@.ci/deps check
	@$(SOURCES) | xargs clang-format-14 --dry-run -Werror

asan:
	@.ci/deps build
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan $(addprefix --target ,$(SUITES))
	@$(CTEST) --test-dir build/asan $(addprefix --tests-regex ,$(SUITES_REGEX))
