"""The pages say what the program does: marked blocks run, the reference is current, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

from docs.make import answers_page, cli_page, pictured
from steelyard.cli.verbs import VERBS
from tests.running import steelyard

ROOT = Path(__file__).parents[2]
DOCS = [page for page in sorted((ROOT / "docs").glob("*.md")) if "template" not in page.name]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
SLOW = ("methods.md", "methods-reference.md", "scale.md")  # their commands take longest
BLOCK = re.compile(r"<!-- run -->\n```(console|python)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] if page.name in SLOW else [], id=page.name)
        for page in PAGES
        if BLOCK.search(page.read_text())
    ],
)
def test_every_marked_block_runs_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, content in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(content, str(page), "exec"), {"__name__": "__main__"})
            continue
        for line in content.splitlines():
            assert line.startswith("$ steelyard "), line
            done = steelyard(*shlex.split(line)[2:])
            assert done.code == 0, f"{line}\n{done.err}"


def test_the_reference_of_the_command_line_is_current() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == cli_page(), "run 'make docs'"


def test_the_page_about_answers_shows_the_examples_of_the_tests() -> None:
    assert (ROOT / "docs" / "answers.md").read_text() == answers_page(), "run 'make docs'"


def test_the_picture_of_the_demo_is_one_table_and_one_chart_on_one_screen() -> None:
    picture = (ROOT / "docs" / "demo.svg").read_text()
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert box
    assert float(box[2]) <= 900
    for words in ("Accuracy", "calibrated", "What"):
        assert words in picture


def test_the_picture_keeps_the_table_and_the_chart_of_what_the_demo_shows() -> None:
    table = ["$ steelyard evaluate FILE", "", "Accuracy in %", "method  64", "logit  60.1", "error: none"]
    chart = ["What a score is worth", "score  weight", " 0.1  -1.0", "", "more"]
    shown = pictured("\n".join(["start", *table, "between", *chart]))
    assert shown.splitlines() == [*table[:-1], "", *chart[:3]]


def test_every_option_of_every_verb_is_explained() -> None:
    from steelyard.cli import commands

    page = (ROOT / "docs" / "cli.md").read_text()
    for verb, command in commands().items():
        part = page.partition(f"## steelyard {verb}\n")[2].partition("\n## ")[0]
        for param in command.params:
            hidden = getattr(param, "hidden", False)
            assert hidden or param.help, f"no help for {param.opts} of {verb}"
            assert hidden or not param.opts[0].startswith("-") or param.opts[0] in part, f"{param.opts} of {verb}"


def test_the_page_about_python_has_a_function_that_exists_for_every_verb() -> None:
    import steelyard as sy

    page = (ROOT / "docs" / "python.md").read_text()
    verbs = page.split("## The names")[0]
    functions = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", verbs, re.MULTILINE))
    assert set(functions) == set(VERBS) - {"demo", "serve"}
    assert all(re.search(r"`sy\.\w+", said) for said in functions.values())
    assert set(re.findall(r"\bsy\.(\w+)", page)) <= set(dir(sy))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def _to_be_written(name: str) -> bool:
    """Whether a name stands for what the reader is to write: my_vote.py, MyVote, NAME.txt."""
    return name.lower().startswith("my") or name.startswith("NAME")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_mentioned_exists(page: Path) -> None:
    for path in re.findall(
        r"(?<![\w./-])(?:src/steelyard|tests|docs|recipes|benchmarks)/[\w./-]*\w/?", page.read_text()
    ):
        named = ROOT / path
        there = named.parent if _to_be_written(named.name) else named
        assert there.exists(), f"{page.name}: {path}"


def entry_point_groups() -> set[str]:
    """The groups of entry points, which are named like modules: methods of steelyard.methods."""
    sources = (ROOT / "src" / "steelyard").rglob("*.py")
    return {group for path in sources for group in re.findall(r'group ?= ?"steelyard\.(\w+)"', path.read_text())}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_and_name_of_the_package_that_is_mentioned_exists(page: Path) -> None:
    import steelyard

    groups = "|".join([*entry_point_groups(), r"vote\.(?:answer|result)", "cancelled"])  # the last: attributes of spans
    text = page.read_text()
    for dotted in re.findall(rf"(?<![\w./-])steelyard(?!\.(?:toml|{groups})\b)((?:\.[A-Za-z_]\w*)+)", text):
        thing: object = steelyard
        for name in dotted[1:].split("."):
            inner = f"{thing.__name__}.{name}" if isinstance(thing, ModuleType) and hasattr(thing, "__path__") else ""
            if inner and importlib.util.find_spec(inner):
                if inner.startswith("steelyard.plugins."):  # imports a tool: tests/plugins runs what the page says
                    break
                thing = importlib.import_module(inner)
            else:
                assert hasattr(thing, name), f"{page.name}: steelyard{dotted}"
                thing = getattr(thing, name)
    for name, inner in re.findall(r"\bsy\.([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?", text):
        assert _to_be_written(name) or hasattr(steelyard, name), f"{page.name}: sy.{name}"
        topic = getattr(steelyard, name, None)
        assert not (inner and isinstance(topic, ModuleType)) or hasattr(topic, inner), f"{page.name}: sy.{name}.{inner}"


def test_the_index_links_every_page() -> None:
    links = set(re.findall(r"\]\(([^)#]+)\)", (ROOT / "docs" / "README.md").read_text()))
    assert {page.name for page in DOCS if page.name != "README.md"} <= links


def test_the_findings_told_in_the_docs_hold(tmp_path: Path) -> None:
    """docs/methods-reference.md: on noise the printed optimum gains over ten points, the crossfit one hardly any."""
    import json

    steelyard("simulate", "--questions", 1000, "-n", 32, "-o", tmp_path / "t.parquet")
    words = ("--shuffle-scores", "-n", 32, "--method", "majority,optimal,optimal-crossfit", "--json")
    rows = json.loads(steelyard("evaluate", tmp_path / "t.parquet", *words).out)["rows"]
    gain = {row["method"]: row["gain"] for row in rows}
    assert gain["optimal"] > 0.1
    assert gain["optimal-crossfit"] < 0.03
