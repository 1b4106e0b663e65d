"""The site: its sidebar lists every page, its reference every public name, and its check finds dead links."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import steelyard as sy
from docs.site.api import MODULES, TOPICS, documented, page, short_signature
from docs.site.check import problems
from docs.site.contents import sections, toctrees
from tests.docs.test_docs import DOCS, ROOT

INDEX = (ROOT / "docs" / "README.md").read_text()


def test_the_sections_of_an_index_are_read_with_their_pages() -> None:
    index = "# Pages\n\n**Start**\n\n- [First](start.md): more.\n\n**Changes**\n\n- [All](../ALL.md)\n"
    assert sections(index) == {"Start": ["start"], "Changes": ["../ALL"]}


def test_the_sidebar_has_the_sections_of_the_index_and_every_page_once() -> None:
    assert list(sections(INDEX)) == ["Start", "How to", "Concepts", "Reference", "Evidence", "Contributing", "Changes"]
    listed = Counter(page for pages in sections(INDEX).values() for page in pages)
    assert {page.stem for page in DOCS if page.name != "README.md"} <= set(listed)
    assert max(listed.values()) == 1


def test_the_contents_name_files_that_exist() -> None:
    names = [line for line in toctrees(INDEX).splitlines() if line and line[0] not in "`:"]
    for name in names:
        assert (ROOT / f"{name}.md").exists() or (ROOT / f"{name}.rst").exists(), name


def test_the_reference_explains_every_public_name_on_one_page() -> None:
    public = {f"{module}.{name}" for module in MODULES for name in dir(_module(module))}
    topics_and_version = {*TOPICS, "steelyard.__version__"}
    errors = {f"steelyard.{name}" for name in dir(sy.errors)}
    assert {name for module in MODULES for name in documented(module)} == public - topics_and_version - errors


def _module(name: str) -> object:
    return sy if name == "steelyard" else getattr(sy, name.removeprefix("steelyard."))


def test_a_page_of_the_reference_has_classes_and_functions() -> None:
    text = page("steelyard")
    assert ".. autoclass:: steelyard.CalibratedVote" in text
    assert ".. autofunction:: steelyard.vote" in text


def test_a_class_is_explained_with_its_inherited_members_or_refers_to_its_public_base() -> None:
    text = page("steelyard")
    assert ".. autoclass:: steelyard.Method\n   :inherited-members:" in text
    assert ".. autoclass:: steelyard.LogitVote\n\n   Inherits from :class:`Method <steelyard.Method>`." in text


def test_signatures_have_short_types() -> None:
    signature = (
        "(a: ~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.int64]] = <factory>, b: ~steelyard.x.Y)"
    )
    assert short_signature(None, "", "", None, None, signature, None) == (
        "(a: NDArray[int64] = ..., b: ~steelyard.x.Y)",
        None,
    )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<a href='other.html#part'>", None),
        ("<a href='https://example.org/'>", None),
        ("<img src='a%20b.png'>", None),
        ("<a href='gone.html'>", "not a file"),
        ("<a href='other.html#gone'>", "no such anchor"),
        ("<a href='../secret.txt'>", "not a file"),
        ("<img src='https://example.org/a.png'>", "loads"),
        ("<script src='//example.org/a.js'></script>", "loads"),
    ],
)
def test_the_check_finds_dead_links_and_files_from_elsewhere(body: str, problem: str | None, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "secret.txt").write_text("outside")
    (site / "a b.png").write_text("picture")
    (site / "other.html").write_text("<h1 id='part'>Part</h1>")
    (site / "page.html").write_text(body)
    lines = problems(site)
    assert bool(lines) == bool(problem)
    assert problem is None or problem in lines[0]


def test_the_command_fails_only_if_there_is_a_problem(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "docs.site.check", str(tmp_path)]
    (tmp_path / "page.html").write_text("<p>Nothing to find.</p>")
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    (tmp_path / "page.html").write_text("<a href='gone.html'>")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == "page.html refers to gone.html, which is not a file of the site"
