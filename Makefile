# Steelyard: `make demo` and `make test` set everything up by themselves.
PYTHON ?= python3
BIN := .venv/bin
FUZZ ?= 60
MATHS := */pool.py,*/arrays.py,*/verdicts.py,*/tally.py,*/kernels/*,*/weights/*,*/calibration/*,*/methods/*,*/stopping/*,*/evaluation/*

.PHONY: demo test check bench docs clean

demo: .venv/.installed
	$(BIN)/steelyard demo -o demo

test: check
	$(BIN)/python -m coverage erase
	$(BIN)/python -m pytest -n auto --cov --cov-report=term --cov-fail-under=95
	$(BIN)/python -m coverage report --include='$(MATHS)' --fail-under=98
	$(BIN)/python -m tests.fuzz_answers $(FUZZ) 0
	$(BIN)/python -m docs.reproduction --check

check: .venv/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.developing
	$(BIN)/python -m benchmarks

docs: .venv/.developing
	$(BIN)/python -m docs.make

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Steelyard needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 2; }
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/.developing: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@ .venv/.installed

clean:
	rm -rf .venv demo dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
