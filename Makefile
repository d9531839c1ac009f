# The everyday commands. Everything runs from a virtual environment in .venv that `make setup` makes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# `make run PROFILE=koordinator-gpu` runs a policy of config/profiles; some have a sample of their own.
PROFILE ?=
POLICY ?= $(if $(PROFILE),config/profiles/$(PROFILE).yaml,config/policy.yaml)
SAMPLE_koordinator-gpu := koordinator
SAMPLE_node-reservation := koordinator
SAMPLE_low-node-load := load
SAMPLE_volcano := volcano
SAMPLE_dra := devices
SAMPLE_plan-balance-koordinator := koordinator
SAMPLE_plan-consolidate-koordinator := koordinator
SAMPLE_plan-defragment-gpus := koordinator
SAMPLE_plan-defragment := planning
SAMPLE_koordinator-cheaper-nodes := planning
SAMPLE_plan-drain := planning
SAMPLE_plan-drain-upgrade := planning
SAMPLE_plan-make-room := planning
SAMPLE_plan-make-room-koordinator := planning
SAMPLE_plan-reduce-cost := planning
SAMPLE_koordinator-repair := koordinator
DUMP ?= config/samples/$(or $(SAMPLE_$(PROFILE)),shop).jsonl.gz
# The tag of the base image of cronjob/Dockerfile; `make base-image BASE_IMAGE=python:3.12-slim-bookworm` takes another.
BASE_IMAGE ?= $(shell sed -n 's/^ARG PYTHON_IMAGE=\([^@]*\).*/\1/p' cronjob/Dockerfile)
NOW ?= $(if $(SAMPLE_$(PROFILE)),2026-06-30T12:00:00Z,2026-01-15T12:00:00Z)

# What is compiled of the tests is kept, whatever the environment says: to compile takes half of the time of collecting.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup run test test-long test-all e2e e2e-peers image browser release base-image render lint format schema bench bench-peer bench-migrations bench-balance clean

help: ## Show this list.
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(VENV)/.installed ## Make the virtual environment.

# The lock holds exact versions and their hashes and is all that is installed, so the pip that Python brings along will do.
$(VENV)/.installed: pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --editable .
	$(BIN)/python -m pip check
	$(BIN)/python -m compileall -q descheduler
	touch $@

run: setup ## Show what the sample policy would evict in the sample cluster.
	$(BIN)/descheduler run --policy-config-file $(POLICY) --snapshot $(DUMP) --now $(NOW)

test: setup ## Run the tests that are short.
	$(BIN)/python -m pytest -n auto --dist loadgroup --without-long $(PYTEST_ARGS)

test-long: setup ## Run the tests that are long, of series a part.
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "long and not rest" $(PYTEST_ARGS)

test-all: test ## Run all tests and the rest of the series.
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "long or rest" $(PYTEST_ARGS)

e2e: setup ## Run the tests on a real control plane, which Go builds once.
	$(BIN)/python -m tests.e2e.binaries
	$(BIN)/python -m pytest tests/e2e -m e2e -n 4 --dist loadfile $(PYTEST_ARGS)

e2e-peers: setup ## The same with Koordinator, Volcano and the upstream descheduler.
	$(BIN)/python -m tests.e2e.binaries --peers
	$(BIN)/python -m pytest tests/e2e -m e2e_peers $(PYTEST_ARGS)

image: setup ## Build the image with docker, podman or buildah, and run it on a real control plane.
	$(BIN)/python -m tests.e2e.binaries
	$(BIN)/python -m pytest tests/e2e/image -m image $(PYTEST_ARGS)

browser: setup ## Open pages of plans in headless Chromium, which has to be installed.
	$(BIN)/python -m pytest tests/browser -m browser $(PYTEST_ARGS)

release: ## Make the files of a release (VERSION=0.2.0 URL=where they are published), and send nothing.
	$(PYTHON) cronjob/release/make_release.py "$(VERSION)" "$(URL)"

base-image: ## Write the digest that the base image has today into the Dockerfile (asks the registry with docker).
	digest=$$(docker buildx imagetools inspect $(BASE_IMAGE) --format '{{.Manifest.Digest}}') && \
	    echo "$$digest" | grep -qxE 'sha256:[0-9a-f]{64}' && \
	    sed -i.old "s|^ARG PYTHON_IMAGE=.*|ARG PYTHON_IMAGE=$(BASE_IMAGE)@$$digest|" cronjob/Dockerfile && \
	    rm cronjob/Dockerfile.old

render: setup ## Render the deployment with kustomize and Helm, which Go builds once, and check it.
	$(BIN)/python -m pytest tests/cronjob -m render $(PYTEST_ARGS)

lint: setup ## Check style, types and the import contract.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## Put the code in the house style.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

schema: setup ## Write the JSON Schemas of the documents again.
	$(BIN)/python -m descheduler.explanation.docs.schema

bench: setup ## Measure speed, memory and the planner; prints figures and ratios.
	$(BIN)/python -m tests.bench

bench-peer: setup ## Measure beside the upstream program on a real API server (builds both with Go once).
	$(BIN)/python -m tests.bench.peer $(PEER_ARGS)

bench-migrations: setup ## Measure 500 migrations on a real control plane.
	$(BIN)/python -m tests.bench.migrations $(MIGRATIONS_ARGS)

bench-balance: setup ## Balance 200 nodes by plans and by the upstream program on a real control plane.
	$(BIN)/python -m tests.bench.planned_cluster $(BALANCE_ARGS)

clean: ## Remove the virtual environment and all caches.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
