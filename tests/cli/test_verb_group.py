"""The overview of the verbs, which loads none of them, and the panels of their options."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard import cli
from steelyard.cli import commands
from steelyard.cli.verbs import MANY, OPTION_PANELS, PANEL_OF, PANELS, VERBS
from tests.running import steelyard

MODULES = {path.stem: path.read_text() for path in Path(cli.__file__).parent.glob("*.py")}
IMPLEMENTED = {name for name, text in MODULES.items() if re.search(r"^def run\(", text, re.MULTILINE)}


def module_of(verb: str) -> str:
    return verb.replace("-", "_").replace("import", "import_")


def panels(words: list[str]) -> dict[str, str]:
    """The text of each panel of a help page, by its title."""
    pages = re.split(r"╭─ (.+?) ─*╮", steelyard(*words, "--help").out)
    return dict(zip(pages[1::2], pages[2::2], strict=True))


def test_every_module_with_a_command_is_a_verb_in_one_panel() -> None:
    assert {module_of(verb) for verb in VERBS} == IMPLEMENTED
    assert len(VERBS) == len(set(VERBS)) == len(commands())


def test_the_overview_lists_every_verb_with_one_line_in_its_panel() -> None:
    shown = panels([])
    assert list(shown) == ["Options", *PANELS]
    for panel, verbs in PANELS.items():
        rows = [" ".join(line.strip("│ ").split()) for line in shown[panel].splitlines() if line.startswith("│")]
        assert rows == [f"{verb} {summary}" for verb, summary in verbs.items()]


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["layouts", "--help"]])
def test_only_the_verb_that_is_used_is_imported(words: list[str]) -> None:
    program = f"""
import sys, json
from steelyard.cli import main
sys.argv = ["steelyard", *{words}]
try:
    main()
except SystemExit:
    print(json.dumps([name for name in sys.modules if name.startswith("steelyard.cli.")]), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name.rsplit(".", 1)[1] for name in json.loads(done.stderr)}
    assert loaded & IMPLEMENTED == {word for word in words if word in VERBS}


def test_rare_options_of_long_verbs_have_panels_after_the_others() -> None:
    options = {max(param.opts, key=len).lstrip("-") for command in commands().values() for param in command.params}
    assert PANEL_OF.keys() <= options
    assert sum(len(names.split()) for names in OPTION_PANELS.values()) == len(PANEL_OF)
    for verb, command in commands().items():
        shown = list(panels([verb]))
        assert shown[: len(shown) - shown[::-1].index("Options")] in (["Options"], ["Arguments", "Options"])
        assert (len(command.params) > MANY) or shown[-1] == "Options"
    generate = panels(["generate"])
    assert "--retries" in generate["Requests"]
    assert "--engine" in generate["Workers"]
    assert "--model" in generate["Options"]
    assert list(generate)[-1] == "Advanced"


def test_a_misspelt_verb_is_one_line_with_the_verb_that_was_meant() -> None:
    done = steelyard("fti")
    assert done.code == 2
    assert done.err == "error: No such command 'fti'. Did you mean 'fit'?; see 'steelyard --help'\n"
