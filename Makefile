# Every target sets up what it needs by itself; the second time that takes a second.
.DEFAULT_GOAL := help
.PHONY: help setup demo up test test-fuzz test-sites test-apps test-gym test-vllm test-chaos test-deploy test-cluster near unit check screenshots bench images pin-images lock clean

# Not PYTHON: that one names the Python to make .venv with, for scripts/setup.
VENV_PYTHON := .venv/bin/python

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: ## make .venv, install the packages, find or install a Chromium
	@scripts/setup

demo: setup ## run a job on a local demo shop and print its records
	@$(VENV_PYTHON) scripts/demo.py

up: setup ## start the embedded cluster: gateway, dashboard, dispatcher, browsers
	@.venv/bin/shoal up

test: setup ## checks and all tests
	@scripts/test

test-fuzz: setup ## properties with many examples; 10,000 random requests for a gateway: no 5xx, no slow answer, no pause
	@scripts/test-fuzz

test-sites: setup ## jobs on sites and applications from package registries, and long loops that learn, beside the truth
	@scripts/test-sites

test-apps: setup ## jobs on applications from PyPI and npm, and the model calls beside those that they need (ten minutes)
	@scripts/test-apps

test-gym: setup ## all tasks of MiniWoB++ by scripts that read the text, and what BrowserGym's tests ask (15 minutes)
	@scripts/test-gym

test-vllm: setup ## tests against real vLLM on the CPU (its own venv, 2.4 GB, kept)
	@scripts/test-vllm

test-chaos: setup ## a cluster of several nodes, its parts killed again and again (ten minutes)
	@scripts/test-chaos

test-deploy: setup ## the chart, images, rules, dashboards and compose file, checked with their own tools
	@scripts/test-deploy

test-cluster: setup ## the chart in a real Kubernetes control plane (KUBEBUILDER_ASSETS names its programs)
	@scripts/test-cluster

near: setup ## the tests nearest to what changed since SINCE (a commit; default: what is not committed), five minutes at most
	@scripts/near $(or $(SINCE),HEAD)

unit: setup ## the first ring of tests: a minute, no browser, Ray or database server
	@scripts/unit

check: setup ## lint, format and types
	@scripts/check

screenshots: setup ## make the pictures of the web pages in docs/
	@scripts/screenshots

bench: setup ## run the benchmarks and write docs/archive/benchmarks.md
	@$(VENV_PYTHON) load-tests/bench/all.py

images: ## build the two images (docker with buildx); REGISTRY=… VERSION=… PUSH=true
	@PUSH=$(PUSH) scripts/images $(REGISTRY) $(VERSION)

pin-images: ## write the base image's digest and today's Debian into the Dockerfiles
	@scripts/pin-images

lock: setup ## remake requirements.lock after a change of pyproject.toml
	@scripts/lock

clean: ## remove what set-up and tests made in this folder (not the data folder)
	@rm -rf .venv .venv-deploy .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
