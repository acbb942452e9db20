# `make` checks everything; `make help` says what else there is.
#
# Every target sets up what it needs in .venv: a machine with Python 3.11 or later is enough.

PYTHON ?= python3
CASES ?= ../shared/cases

BIN := .venv/bin
PACKAGE := .venv/.package
TOOLS := .venv/.tools

# An open() that forgets its encoding fails its test.
PYTEST := PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest

.DEFAULT_GOAL := all
.PHONY: all help run test property coverage lint format types bench cases build clean

all: lint types test  ## format check, lint, types and tests

help:  ## this text
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: $(PACKAGE)  ## the main job, on this repository's own files
	$(BIN)/filerefs expand "explain @filerefs/turn.py:1-40 and @docs/" --root .

test: $(TOOLS)  ## all tests
	$(PYTEST) -n auto

property: $(TOOLS)  ## the laws alone, on ten times as many generated inputs
	$(PYTEST) -n auto -m property --hypothesis-profile=thorough

coverage: $(TOOLS)  ## all tests, with the lines and branches that none of them runs
	$(PYTEST) -n auto --cov --cov-report=term-missing

lint: $(TOOLS)  ## format check and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(TOOLS)  ## rewrite the code as `lint` wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(TOOLS)  ## mypy (strict) and pyright (strict)
	$(BIN)/mypy
	$(BIN)/pyright

bench: $(TOOLS)  ## how fast it is, as ratios in one run
	$(PYTEST) bench -o python_files='bench_*.py' -p no:xdist

cases: $(PACKAGE)  ## the shared cases (CASES=folder), on both backends of Root
	@if [ -e "$(CASES)/run_cases.py" ]; then \
		set -e; \
		echo "backend: chosen by the probe"; \
		$(BIN)/python "$(CASES)/run_cases.py" "$(CASES)"/turn/*.jsonl; \
		echo "backend: walk"; \
		FILEREFS_BACKEND=walk $(BIN)/python "$(CASES)/run_cases.py" "$(CASES)"/turn/*.jsonl; \
	else \
		echo "no cases at $(CASES): skipped"; \
	fi

build: $(TOOLS)  ## wheel and source archive, into dist/
	rm -rf dist
	$(BIN)/python -m build

clean:  ## remove what the targets made
	rm -rf .venv dist .coverage .coverage.* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(PACKAGE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "filerefs needs Python 3.11 or later; say which: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# Groups need pip 25.1, newer than what Python 3.11 brings along.
$(TOOLS): $(PACKAGE)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
