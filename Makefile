# Every target sets up what it needs. `make run` and `make test` are all a fresh machine needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run test check fix bench docs claims

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(READY)  ## make .venv and install everything the other targets need

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

run: $(READY)  ## reproduce the paper: figures, verdicts and a report in out/
	$(BIN)/driftanchor reproduce --out out

test: $(READY)  ## all tests and examples
	$(BIN)/pytest

check: $(READY)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: $(READY)  ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## speed beside peers, C and NumPy: tables, and docs/evidence/benchmarks.md
	$(BIN)/python -m benchmarks $(BENCH)

docs: $(READY)  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

claims: $(READY)  ## measure anew what the pages say and write it into docs
	$(BIN)/python -m benchmarks.pages.measure
