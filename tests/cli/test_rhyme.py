"""The command line rhymes: one spelling, one metavar and one help for one idea, in every verb."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest

from steelyard.cli import commands
from tests.running import steelyard

VERBS = commands()
GENERIC = {"TEXT", "PATH", "INTEGER", "FLOAT", "<str>", "<path>", "<int>", "<float>", None}


def shown(verb: str) -> list[Any]:
    """The options of a verb that stand in its help, but for --help."""
    return [
        param
        for param in VERBS[verb].params
        if param.opts[0].startswith("-") and not param.hidden and "--help" not in param.opts
    ]


def flat(text: str) -> str:
    """The words of a help page, without frames and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json_an_example_and_metavars(verb: str) -> None:
    assert "--json" in {name for param in shown(verb) for name in param.opts}
    assert f"steelyard {verb}" in VERBS[verb].epilog
    for param in VERBS[verb].params:
        if not getattr(param, "hidden", False) and not getattr(param, "is_flag", False):
            assert param.metavar not in GENERIC, f"{verb}: {param.opts} needs a metavar"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_has_a_help_and_tells_its_default(verb: str) -> None:
    for param in shown(verb):
        assert param.help, f"{verb}: {param.opts}"
        if not param.is_flag and param.default not in (None, ()):
            assert param.show_default, f"{verb}: the default of {param.opts} is not shown"


def test_an_option_of_one_name_has_one_metavar_and_one_first_sentence_in_all_verbs() -> None:
    helps: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for verb in VERBS:
        for param in shown(verb):
            first = re.split(r"[.;:](?:\s|$)", param.help)[0]
            helps[max(param.opts, key=len)].add((first, param.metavar or ""))  # a verb that ran has "" for a flag
    different = {name: told for name, told in helps.items() if len({first for first, _ in told}) > 1}
    assert not different
    metavars = {name: {metavar for _, metavar in told} for name, told in helps.items()}
    assert metavars.pop("--output") <= {"FILE", "RUN", "FOLDER"}
    assert not {name: told for name, told in metavars.items() if len(told) > 1}


def test_no_option_is_hidden_from_the_help() -> None:
    assert not [f"{verb} {param.opts}" for verb in VERBS for param in VERBS[verb].params if param.hidden]


def test_help_shows_every_word_of_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of a text is taken for markup, such as the [prm] of steelyard[prm]."""
    monkeypatch.setenv("COLUMNS", "300")
    for verb in VERBS:
        page = re.sub(r"\s", "", flat(steelyard(verb, "--help").out))
        for param in shown(verb):
            assert re.sub(r"\s", "", param.help.replace("\\[", "[")) in page, f"{verb}: {param.opts}"
    assert "steelyard[prm]" in flat(steelyard("score", "--help").out)


def test_calibrate_has_one_default_and_a_reason_where_it_differs() -> None:
    found = {verb: param for verb in VERBS for param in shown(verb) if "--calibrate" in param.opts}
    used = {verb: 0.3 if "Default: 0.3" in param.help else param.default for verb, param in found.items()}
    assert {verb: default for verb, default in used.items() if default != 0.3} == {"fit": 1.0, "plan-budget": 0.5}
    assert all(("by default here" in param.help) == (used[verb] != 0.3) for verb, param in found.items())
