# Every target sets up what it needs: on a fresh machine, `make run` or `make test` is enough.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run test browser check fix bench torture docs reference claims

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(READY)  ## make .venv and install everything the other targets need

$(READY): pyproject.toml
	@echo "setting up .venv: this takes a minute or two"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

run: $(READY)  ## reproduce the paper: figures, verdicts and a report in out/
	$(BIN)/driftanchor reproduce --out out

test: $(READY) browser  ## all tests and examples
	$(BIN)/pytest

browser:  # the tests of the page need Chromium; where it cannot be installed, they say how to get it
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; { \
	  echo "Chromium is missing, which the tests of the page need: installing it with apt-get"; \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium || \
	  echo "cannot install Chromium: run 'sudo apt-get install chromium', or put any Chromium on the PATH as 'chromium'"; }

check: $(READY)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: reference  ## format, fix what can be fixed, and bring docs/reference up to date
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## speed beside peers, C and NumPy: tables, and docs/evidence/benchmarks.md
	$(BIN)/python -m benchmarks $(BENCH)

torture: $(READY)  ## hostile input: damaged logs, junk for every command; laws over 10 times the runs
	$(BIN)/python -m benchmarks.torture $(TORTURE)
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest tests/contracts/test_policies.py tests/policies tests/simulation
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -m "slow or hypothesis" --times 10 --hypothesis-profile thorough tests

docs: $(READY)  ## build the documentation into site/
	$(BIN)/zensical build --strict

reference: $(READY)  ## write the pages of docs/reference that are made from the code
	$(BIN)/python -m benchmarks.pages.reference

claims: $(READY)  ## measure again what the pages show, and write it into docs
	$(BIN)/python -m benchmarks.pages.measure
