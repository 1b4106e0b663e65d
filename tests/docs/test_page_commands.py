"""Every command and every Python block in the docs runs, or is listed here with the reason why not."""

from __future__ import annotations

import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from steelyard.cli import commands
from tests.docs.example_files import make_files, plan
from tests.docs.shell import Shell
from tests.docs.test_docs import PAGES, ROOT
from tests.upstreams import FaultUpstream

TESTED = re.compile(r"<!-- (run|client \w+|integration \w+|terminal|work) -->\n$")  # other tests run these
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUNNABLE = ("console", "python", "bash", "sh", "")
SKIPPED = {
    "README.md": {"make demo": "run by tests/cli/test_cli.py"},
    "docs/committees.md": {"python -m docs.committees": "needs tables that are not part of the repository"},
    "docs/deploy.md": {
        "pip wheel": "built by tests/deploy/test_containers.py",
        "docker build": "its steps are run by tests/deploy/test_containers.py",
        "docker run": "needs a container engine; tests/deploy/test_containers.py starts what the image starts",
        "kubectl create": "needs a cluster",
        "kubectl apply": "needs a cluster; tests/deploy/test_containers.py starts what the manifest starts",
    },
    "docs/free.md": {
        "steelyard score graded.jsonl --verifier same-meaning": "run by tests/sampling/jobs/test_score_meaning.py",
        "steelyard vote graded.scored --answers free:judged": "run by tests/sampling/jobs/test_score_meaning.py",
    },
    "docs/gateway.md": {"steelyard fit kept": "run by tests/gateway/test_feedback.py"},
    "docs/grid.md": {"steelyard evaluate grid:": "an example of steelyard grid --help"},
    "docs/integrations.md": {
        "lighteval": "another tool; tests/tables/layouts has a file that it wrote",
    },
    "docs/layouts-reference.md": {
        "lm_eval": "another tool",
        "inspect eval": "another tool",
        "lighteval": "another tool",
        "vllm run-batch": "another tool",
        "steelyard evaluate logs": "too few questions to calibrate in the sample; test_golden.py reads it",
        "steelyard evaluate outputs": "too few questions to calibrate in the sample; test_golden.py reads it",
    },
    "docs/leaderboard.md": {
        "steelyard leaderboard": "minutes; on files it is an example of steelyard leaderboard --help",
        "python -m docs.leaderboard": "needs tables that are not part of the repository",
    },
    "docs/mixing.md": {
        "steelyard evaluate solutions": "run by tests/cli/test_mixing_cli.py",
        "steelyard fit": "run by tests/cli/test_mixing_cli.py",
    },
    "docs/plugins.md": {
        "python - <<'END'\nfrom inspect_ai": "needs Inspect; tests/plugins/test_plugins_page.py runs it",
        "python - <<'END'\nScore(": "part of a scorer; tests/plugins/inspect_task.py has one",
        "inspect eval": "another tool",
        "steelyard fit logs": "needs a log; tests/plugins/test_inspect_reducers.py fits on one",
        "lm_eval run": "another tool; tests/plugins/test_lm_eval_filter.py runs the task",
        "python - <<'END'\nfrom steelyard.plugins.litellm_provider": "run by tests/plugins/litellm",
    },
    "docs/runs.md": {"KILLS=200": "takes an hour"},
    "docs/sample-committees.md": {
        "python -m docs.sample_committees": "needs tables that are not part of the repository"
    },
    "docs/scale.md": {
        "export RAY_AUTH_MODE": "needs Ray",
        "ray get-auth-token": "needs Ray",
        "(umask 077; ray": "needs Ray",
        "vllm serve": "needs GPUs",
        "steelyard score run --verifier qwen-prm --engine": "needs GPUs and a Ray cluster",
        "pip install": "needs a package index",
        "steelyard partition 's3:": "needs S3; tests/ray/test_stored_parts.py has one",
        "steelyard fit s3:": "needs S3",
        "steelyard vote s3:": "needs S3",
        "#!/bin/bash\n#SBATCH": "needs Slurm",
    },
    "docs/start.md": {"python3 -m venv": "needs a package index", "pip install": "needs a package index"},
    "docs/verifiers.md": {
        "steelyard score RUN --verifier judge": "run by tests/sampling/jobs/test_score_judge.py",
        "steelyard score RUN --verifier embeddings": "run by tests/sampling/jobs/test_score_embeddings.py",
        "steelyard vote RUN --answers free:cosine": "run by tests/sampling/jobs/test_score_embeddings.py",
    },
}  # fmt: skip


def blocks(page: Path) -> list[list[str]]:
    """The commands of every block that no other test runs; a Python block is one command."""
    text, listed = page.read_text(), []
    for match in BLOCK.finditer(text):
        content = match[2].strip()
        if TESTED.search(text[: match.start()]) or match[1] not in RUNNABLE or page.name == "cli.md":
            continue
        if match[1] == "python":
            listed.append([f"python - <<'END'\n{content}\nEND"])
        elif content.startswith("#!"):
            listed.append([content])
        else:
            lines = re.sub(r"\\\n\s*", "", content).splitlines()
            listed.append([re.sub(r"\s+#\s.*", "", line.removeprefix("$ ")) for line in lines])
    return listed


def _path(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def skipped(page: Path, command: str) -> bool:
    return any(command.startswith(start) for start in SKIPPED.get(_path(page), {}))


COMMANDS = [page for page in PAGES if any(not skipped(page, line) for block in blocks(page) for line in block)]


@pytest.mark.long
@pytest.mark.parametrize("page", COMMANDS, ids=_path)
def test_every_command_runs(page: Path, tmp_path: Path, upstream: FaultUpstream) -> None:
    for number, block in enumerate(blocks(page)):
        folder = tmp_path / str(number)
        folder.mkdir()
        shell = Shell(folder, upstream.url)
        for command in block:
            if not skipped(page, command):
                line = shell.filled(command)
                make_files(folder, line, plan=partial(plan, method="majority"))
                shell.run(line)


def test_every_command_that_is_skipped_exists() -> None:
    listed = {_path(page): [line for block in blocks(page) for line in block] for page in PAGES}
    for page, starts in SKIPPED.items():
        for start in starts:
            assert any(line.startswith(start) for line in listed[page]), f"{page}: {start}"


@pytest.mark.parametrize("page", PAGES, ids=_path)
def test_every_verb_option_and_module_that_is_mentioned_exists(page: Path) -> None:
    verbs, text = commands(), page.read_text()
    for command in re.findall(r"`(?:\$ )?(?:\.venv/bin/)?steelyard ([^`]+)`", text):
        verb, *options = command.split()
        if not re.fullmatch(r"[a-z][a-z-]+", verb):
            continue
        assert verb in verbs, f"{page.name}: steelyard {command}"
        accepted = {"--help"} | {name for param in verbs[verb].params for name in (*param.opts, *param.secondary_opts)}
        unknown = {option for option in options if re.fullmatch(r"--[a-z][a-z-]+", option)} - accepted
        assert not unknown, f"{page.name}: steelyard {command}"
    for module in re.findall(r"python -m ((?:docs|benchmarks|tests|recipes)[\w.]*)", text):
        assert find_spec(module), f"{page.name}: python -m {module}"
