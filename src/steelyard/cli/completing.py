"""What the last word of an unfinished command line may become. The scripts of `steelyard completion` ask for it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from glob import escape, glob
from typing import Any

VARIABLE = "_STEELYARD_COMPLETE"  # holds the line up to the cursor


def completions(line: str, commands: dict[str, Any]) -> list[str]:
    """The words that may stand at the end of a line; none where a file name is wanted, which shells do themselves.

    `commands` are the verbs by name.
    """
    words, last = _parted(line)
    if not words:
        return [name for name in [*commands, "--help", "--version"] if name.startswith(last)]
    if words[0] not in commands:
        return []
    command = commands[words[0]]
    options = {name: param for param in command.params if param.opts[0].startswith("-") for name in param.opts}
    option, sep, value = last.partition("=")
    if sep and option in options:
        return [f"{option}={each}" for each in _values((option, options[option].metavar), value)]
    if words[-1] in options and not getattr(options[words[-1]], "is_flag", False):
        return _values((words[-1], options[words[-1]].metavar), last)
    if last.startswith("-"):
        shown = [name for name, param in options.items() if not getattr(param, "hidden", False)]
        return [name for name in [*shown, "--help"] if name.startswith(last)]
    arguments = [param for param in command.params if not param.opts[0].startswith("-")]
    named = next((str(param.metavar or "").strip("[].") for param in arguments), "")
    return _values((f"{words[0]} {named}", named), last)


def _parted(line: str) -> tuple[list[str], str]:
    """The finished words after the program's name, and the unfinished one."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation mark is open
        words = line.split()
    last = words.pop() if len(words) > 1 and not line[-1:].isspace() else ""
    return words[1:], last


def _values(about: tuple[str, str | None], start: str) -> list[str]:
    """What an option or an argument may be, by its name or metavar; of a list with commas, the last part is."""
    what, metavar = about
    if what not in CHOICES:
        return _files_too(start) if metavar == "FILE" else []
    before, comma, part = start.rpartition(",")
    return [f"{before}{comma}{name}" for name in CHOICES[what]() if name.startswith(part)]


def _files_too(start: str) -> list[str]:
    """Names of the grid, and the files that begin in the same way; nothing where no name of the grid does."""
    from steelyard.cli.grid import figures

    if not start or not ("grid:".startswith(start) or start.startswith("grid:")):
        return []
    found = figures()
    pairs = [f"grid:{llm}/{verifier}" for llm in found["llms"] for verifier in found["verifiers"]]
    return [*(name for name in pairs if name.startswith(start)), *sorted(glob(f"{escape(start)}*"))]


def _methods() -> Iterable[str]:
    from steelyard.voting.methods import method_names

    return method_names()


def _verifiers() -> Iterable[str]:
    from steelyard.sampling.verifiers import verifier_names

    return verifier_names()


def _kinds() -> Iterable[str]:
    from steelyard.answers.extract import KINDS

    return KINDS


def _prompts() -> Iterable[str]:
    from steelyard.tables.questions.prompts import BUILT_IN

    return BUILT_IN


def _experiments() -> Iterable[str]:
    from steelyard.evaluation.paper.experiment import ALL, experiment_names

    return (ALL, *experiment_names())


def _shells() -> Iterable[str]:
    from steelyard.cli.completion import SCRIPTS

    return SCRIPTS


CHOICES: dict[str, Callable[[], Iterable[str]]] = {
    "--method": _methods,
    "--verifier": _verifiers,
    "--answers": _kinds,
    "--prompt": _prompts,
    "--upstream": lambda: ("local",),
    "methods NAME": _methods,
    "reproduce NAME": _experiments,
    "completion SHELL": _shells,
}  # by option, or by verb and argument
