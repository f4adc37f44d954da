# make setup    create .venv with everything needed (quick when nothing changed)
# make demo     train a small policy and compare it with the baselines
# make test     all checks: formatting, lint, types, tests
# make docs     the documentation site in site/; needs no network, and warnings are errors
# make lint     formatting, lint and types only
# make format   rewrite the code in the project's style
# make clean    remove .venv, caches, the site and build outputs (not runs/)
#
# make setup PYTHON=python3.13            uses that interpreter
# make test PYTEST_ARGS="-m 'not slow'"   passes arguments on to pytest

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?=

.PHONY: help setup demo test docs lint format clean FORCE

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

setup: $(STAMP)

# The stamp holds the project's path: in a clone that was moved the environment's scripts point to
# the old place, so it is made anew.
ifneq ("$(shell cat $(STAMP) 2>/dev/null)","$(CURDIR)")
$(STAMP): FORCE
endif
FORCE:

$(STAMP): pyproject.toml constraints.txt
	@recent='import sys; sys.exit(sys.version_info < (3, 11))'; \
	if [ -z "$${PYTHON:-}" ] && [ "$$(cat $@ 2>/dev/null)" = "$(CURDIR)" ] \
	   && $(BIN)/python -c "$$recent" 2>/dev/null; then \
	  echo "Updating $(VENV)"; exit 0; \
	fi; \
	rm -f $@; \
	for python in $${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do \
	  if "$$python" -c "$$recent" 2>/dev/null; then \
	    echo "Setting up $(VENV) with $$("$$python" --version) (a few minutes the first time)"; \
	    "$$python" -m venv --clear $(VENV); exit; \
	  fi; \
	done; \
	echo "make: no Python 3.11 or newer found (tried $${PYTHON:-python3, python3.11 to python3.14});" \
	     "name one: make setup PYTHON=/path/to/python3" >&2; \
	exit 1
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,fast,pettingzoo,docs,dev]'
	@printf '%s' "$(CURDIR)" >$@

demo: setup
	$(BIN)/incunabula train bibliogamo --config demo --out runs/demo
	$(BIN)/incunabula evaluate bibliogamo --agents random,greedy,ppo,runs/demo --out runs/demo/report

# Kernels are compiled, which takes a few minutes the first time, while the code is checked.
test: setup
	@$(BIN)/python -m incunabula.agents.precompile & compiling=$$!; \
	$(MAKE) --no-print-directory lint || { kill $$compiling; exit 1; }; wait $$compiling
	@# As many processes as cores: threads in each would only get in each other's way.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/: open site/index.html, or serve it for its search with" \
	      "$(BIN)/mkdocs serve"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find . -path ./.git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +
