"""The files around a release agree: version, changelog, citation, workflows, and what the archives may contain."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import hatch_build
import steelyard as sy
import tools.archive_contents
from tools.archive_contents import ABOUT, DATA, LIMIT, content_problems, package_files
from tools.installation import IMPORT_EVERY_MODULE, CheckError, clean_environment, run
from tools.release_check import refuse
from tools.release_metadata import release_problems

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CONFIGURATION = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]
# In parts, so that this file does not name them.
REGISTRIES = [
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))
]
PINNED = re.compile(r"\./.+|[\w-]+/[\w./-]+@(v\d+|release/v\d+|[0-9a-f]{40})")


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a checkout of git")
    return [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]


@pytest.mark.parametrize("path", CONFIGURATION, ids=lambda path: path.name)
def test_every_configuration_file_is_yaml(path: Path) -> None:
    assert isinstance(parsed(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_few_rights_pinned_actions_and_limits(path: Path) -> None:
    workflow = parsed(path)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    for name, job in workflow["jobs"].items():
        assert "uses" in job or job["timeout-minutes"] <= 360, name
        used = [job["uses"]] if "uses" in job else [step["uses"] for step in job["steps"] if "uses" in step]
        assert [action for action in used if not PINNED.fullmatch(action)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_only_targets_that_make_has(path: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = [step["run"] for job in parsed(path)["jobs"].values() for step in job.get("steps", []) if "run" in step]
    for command in commands:
        program, target, *_ = command.split()
        assert program == "make"
        assert target in targets


def test_only_the_job_that_publishes_has_an_identity_and_it_runs_nothing_of_the_repository() -> None:
    jobs = {(path.name, name): job for path in WORKFLOWS for name, job in parsed(path)["jobs"].items()}
    trusted = {key: job for key, job in jobs.items() if "id-token" in job.get("permissions", {})}
    [(key, job)] = trusted.items()
    assert key == ("release.yml", "publish")
    assert job["permissions"] == {"id-token": "write"}
    assert {"tests", "build"} <= set(job["needs"])
    assert not any("run" in step or "checkout" in step["uses"] for step in job["steps"])


def test_every_python_of_the_classifiers_is_tested_and_no_other() -> None:
    named = [match[1] for line in PROJECT["classifiers"] if (match := re.fullmatch(r".* :: Python :: (3\.\d+)", line))]
    matrix = parsed(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert all(int(b[2:]) == int(a[2:]) + 1 for a, b in pairwise(named))


def test_the_version_is_the_same_everywhere() -> None:
    assert parsed(ROOT / "CITATION.cff")["version"] == sy.__version__
    assert release_problems(ROOT) == []


def test_the_citation_has_the_license_and_summary_of_the_package() -> None:
    citation = parsed(ROOT / "CITATION.cff")
    assert (citation["license"], citation["abstract"]) == (PROJECT["license"], PROJECT["description"])


def test_the_address_of_the_repository_is_in_one_file_only() -> None:
    repository = PROJECT["urls"]["Repository"]
    assert all(url.startswith(repository) for url in PROJECT["urls"].values())
    assert [path.name for path in tracked() if path.is_file() and repository.encode() in path.read_bytes()] == [
        "pyproject.toml"
    ]


def test_no_file_names_a_package_registry() -> None:
    named = re.compile("|".join(map(re.escape, REGISTRIES)).encode(), re.IGNORECASE)
    assert [str(path) for path in tracked() if path.is_file() and named.search(path.read_bytes())] == []


def project(
    folder: Path, *, changelog: str = "1.2.3, 2026-01-31", cited: str = "1.2.3", url: str = "https://h/a/b"
) -> Path:
    (folder / "src" / "steelyard" / "foundation").mkdir(parents=True)
    (folder / "src" / "steelyard" / "foundation" / "version.py").write_text('__version__ = "1.2.3"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changes\n\n## {changelog}\n\nText.\n\n## 1.0.0, 2025-01-31\n")
    (folder / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {cited}\n")
    (folder / "pyproject.toml").write_text(f'[project.urls]\nRepository = "{url}"\nIssues = "{url}/issues"\n')
    return folder


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"changelog": "1.2.3, unreleased"}, "CHANGELOG.md has no date for 1.2.3: write '## 1.2.3, YYYY-MM-DD'"),
        (
            {"changelog": "1.2.2, 2026-01-31"},
            "CHANGELOG.md begins with 1.2.2, and the package is 1.2.3: describe 1.2.3",
        ),
        ({"cited": "1.2.2"}, "CITATION.cff has version 1.2.2, and the package 1.2.3: change CITATION.cff"),
        (
            {"url": "https://h/a/bc"},
            "Repository, Issues under [project.urls] in pyproject.toml must begin with https://h/a/b",
        ),
    ],
)
def test_a_tag_is_refused_where_something_is_not_ready(
    tmp_path: Path, changes: dict[str, str], problem: str | None
) -> None:
    problems = release_problems(project(tmp_path, **changes), "v1.2.3", "https://h/a/b")
    assert problems == ([problem] if problem else [])


def test_a_tag_of_another_version_is_refused(tmp_path: Path) -> None:
    assert release_problems(project(tmp_path), "v1.2.4") == [
        "the tag is v1.2.4, and the package is 1.2.3: tag it v1.2.3"
    ]


@pytest.mark.parametrize("kind", ["wheel", "source archive"])
@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("tests/test_vote.py", b"", "is not expected in the"),
        ("steelyard/tables/data/more.parquet", b"", "is not expected in the"),
        ("steelyard/__pycache__/a.pyc", b"", "is not expected in the"),
        (".env", b"", "is not expected in the"),
        ("steelyard/large.py", b"#" * (LIMIT + 1), "in the {kind} is over 10 MB"),
        ("steelyard/key.py", b"-----BEGIN PRIVATE KEY-----", "in the {kind} contains a secret"),
        ("steelyard/key.py", b"KEY = 'AKIA" + b"A" * 16 + b"'", "in the {kind} contains a secret"),
    ],
)
def test_what_does_not_belong_into_an_archive_is_named(kind: str, name: str, content: bytes, problem: str) -> None:
    known = {*DATA, "steelyard/__init__.py", "steelyard/large.py", "steelyard/key.py"}
    files = dict.fromkeys(known, b"")
    assert content_problems(files, known, kind) == []
    [line] = content_problems(files | {name: content}, known, kind)
    assert line.startswith(f"{name} {problem.format(kind=kind)}")


def test_the_data_and_files_about_the_project_exist() -> None:
    assert tracked()
    assert package_files() >= DATA
    assert all((ROOT / name).is_file() for name in ABOUT - {"PKG-INFO"})


def test_a_check_that_fails_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match=r"^a is missing \(and 1 more\)$"):
        refuse(["a is missing", "b is missing"])
    with pytest.raises(CheckError, match=r"^'sh -c .*' ended with exit code 3: the reason$"):
        run(["/bin/sh", "-c", "echo first >&2; echo the reason >&2; exit 3"], tmp_path)


def test_commands_run_without_the_paths_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "STEELYARD_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "here")
    assert "here" not in clean_environment().values()


@pytest.mark.parametrize("module", [hatch_build, tools.archive_contents], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_hold(module: Any) -> None:
    failed, run_examples = doctest.testmod(module)
    assert run_examples
    assert not failed


def test_every_link_of_the_published_readme_is_complete() -> None:
    text = hatch_build.with_complete_links((ROOT / "README.md").read_text(), "https://h/a/b", "v1")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > 20
    assert [target for target in targets if not target.startswith("https://h/a/b/")] == []


def test_every_module_is_imported_without_the_tools_of_plugins(tmp_path: Path) -> None:
    hidden = "sys.modules |= dict.fromkeys(('inspect_ai', 'litellm', 'lm_eval'))"
    source = str(Path(sy.__file__).parents[1])
    run([sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r}); {hidden}{IMPORT_EVERY_MODULE}"], tmp_path)
