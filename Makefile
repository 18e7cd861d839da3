# Everything happens in a local environment, .venv; nothing outside this directory is touched but for missing system packages (see `make system`).
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: all demo test test-fast check bench soak lint fmt types build install clean system clients

all: fmt check test build

demo: system $(READY)  ## a real loop to its end, offline and without a key
	$(BIN)/ralph demo

test: system clients  ## all tests
	$(BIN)/pytest -n $(JOBS) --dist worksteal

test-fast: $(READY)  ## the tests that take milliseconds
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not slow"

check: lint types  ## lint, format, strict types, and the import rules
	$(BIN)/pytest -q tests/architecture

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

fmt: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## speed, as ratios within one run
	$(BIN)/python bench/run.py

soak: clients  ## random seeds and full sizes; takes long
	$(BIN)/pytest -n $(JOBS) --dist worksteal --hypothesis-profile soak tests

build: $(READY)
	$(BIN)/pip wheel -q --no-deps -w dist .

install:  ## the commands ralph and rloop, for this user
	@PYTHON="$(PYTHON)" sh scripts/install

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

system:
	@sh scripts/system-packages git util-linux

clients: $(READY)  ## the real clients that the tests run, into a cache outside of this directory
	@$(BIN)/python scripts/clients

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' || sh scripts/system-packages python3-venv
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade -c constraints.txt pip
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@
