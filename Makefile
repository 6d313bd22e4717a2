# Each target creates .venv and installs what it needs, so each works as the first command after a clone.
# PYTHON chooses the interpreter (3.11 to 3.14); otherwise the first suitable one on the PATH is taken.

PYTHON ?=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11 python3.14)
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal
DEMO_OUT ?= demo
SUITABLE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))

.DEFAULT_GOAL := help
.PHONY: help demo warm test quick test-long test-all packages bench lint docs ptx table format clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(VENV)/.installed-core ## run eight kernels through two designs; print a table, draw a figure
	$(BIN)/warpreg demo --output $(DEMO_OUT)
	-@$(MAKE) --no-print-directory $(VENV)/.warm

warm: $(VENV)/.warm ## compile once what first commands need; `make demo` does so at its end

test: $(VENV)/.installed-dev ## run the test suite in parallel
	@$(BIN)/python -c 'import cuda.bindings.nvrtc' 2>/dev/null || \
	  echo "make: tests that compile CUDA C++ are skipped: NVIDIA has no wheels for $$(uname -m)"
	$(PYTEST) $(ARGS)

quick: $(VENV)/.installed-dev ## run the tests that are not marked slow, in under two minutes
	$(PYTEST) -m "not slow" $(ARGS)

test-long: $(VENV)/.installed-dev ## run the pages whose examples take minutes
	$(PYTEST) -m long -o faulthandler_timeout=0 $(ARGS)

test-all: $(VENV)/.installed-dev ## run the tests on each supported Python that is installed
	$(BIN)/nox $(if $(ARGS),-- $(ARGS))

packages: $(VENV)/.installed-dev ## build wheel and sdist, and try both on each supported Python that is installed
	$(BIN)/nox -s package

bench: $(VENV)/.installed-core ## measure the speed of this machine; takes six minutes
	@for part in spine timing replay placement; do $(BIN)/warpreg bench $$part $(ARGS) || exit 1; done
	@if $(BIN)/python -c 'from warpreg.machine_code.tools import find_tool as f; f("ptxas"), f("nvdisasm")' 2>/dev/null; then \
	  for code in sm_80 sm_90; do $(BIN)/warpreg bench spine --code $$code $(ARGS) || exit 1; done; \
	else echo "make: machine code is not measured: ptxas comes with the cuda extra"; fi

lint: $(VENV)/.installed-dev ## check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## format the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs ## build the documentation as HTML in build/docs
	$(BIN)/sphinx-build -W -q -b html docs build/docs
	@echo "wrote build/docs/index.html"

ptx: $(VENV)/.installed-cuda ## recompile the checked-in PTX of the workloads from their CUDA sources
	$(BIN)/python -m warpreg.workloads.compile_ptx
	$(BIN)/python -m warpreg_workbench.compiler.vendor_record

table: $(VENV)/.installed-core ## run every workload at every size and write the table of workloads
	$(BIN)/python -m warpreg_workbench.suite.table $(ARGS)

clean: ## remove all generated files, .venv included
	rm -rf $(VENV) .nox build dist demo docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@for python in $(CANDIDATES); do \
	  if "$$python" -c '$(SUITABLE)' 2>/dev/null; then \
	    "$$python" -m venv $(VENV) || { echo "make: '$$python -m venv' failed; on Debian and Ubuntu install python3-venv"; exit 1; }; \
	    exit 0; \
	  fi; \
	done; \
	first=$(firstword $(CANDIDATES)); \
	echo "make: Warpreg needs Python 3.11 to 3.14; $$first is $$($$first --version 2>/dev/null || echo missing)." \
	     "Name a newer one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; \
	exit 1

$(VENV)/.installed-core: pyproject.toml packages/papers/pyproject.toml packages/workbench/pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --editable . --editable packages/papers --editable packages/workbench
	@touch $@

$(VENV)/.installed-%: pyproject.toml packages/papers/pyproject.toml packages/workbench/pyproject.toml | $(BIN)/python
	@echo "installing into $(VENV) ($*) ..."
	@$(BIN)/python -m pip install --quiet --editable '.[$*]' --editable packages/papers --editable packages/workbench
	@touch $(VENV)/.installed-core $@

$(VENV)/.warm: $(VENV)/.installed-core
	@echo "compiling once what first commands need; takes a minute or two, and Ctrl-C stops it without harm ..."
	@$(BIN)/warpreg warm
	@touch $@
