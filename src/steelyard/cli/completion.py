"""Shell completion of values that users choose by name: typer completes verbs and options, the shell files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from glob import escape, glob
from typing import Any

import typer

PREFIX = "grid:"


def complete_from(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a callback that completes a name, or the last name of a list with commas."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def complete_table(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a bundled table; without one that fits, return nothing, and the shell completes files."""
    if not incomplete:
        return []
    pairs = list(_bundled_tables())
    words: list[Any] = [*(ctx.params.get("files") or ()), incomplete, *([""] if incomplete == ":" else [])]
    if [str(word) for word in words[-3:-1]] == ["grid", ":"]:  # bash splits words at colons
        return [name.removeprefix(PREFIX) for name in pairs if name.startswith(f"{PREFIX}{words[-1]}")]
    matches = [name for name in pairs if name.startswith(incomplete)]
    return [*matches, *sorted(glob(f"{escape(incomplete)}*"))] if matches else []


def _bundled_tables() -> Iterable[str]:
    from steelyard.cli.grid_figures import figures

    stored = figures()
    return (f"{PREFIX}{llm}/{verifier}" for llm in stored["llms"] for verifier in stored["verifiers"])


def _methods() -> Iterable[str]:
    from steelyard.voting.methods import method_names

    return method_names()


def _verifiers() -> Iterable[str]:
    from steelyard.sampling.verifiers import verifier_names

    return verifier_names()


def _kinds() -> Iterable[str]:
    from steelyard.answers.extract import KINDS

    return KINDS


def _layouts() -> Iterable[str]:
    from steelyard.tables.responses import every_layout

    return (layout.name for layout in every_layout())


def _prompts() -> Iterable[str]:
    from steelyard.tables.prompts import BUILT_IN

    return BUILT_IN


def _experiments() -> Iterable[str]:
    from steelyard.evaluation.paper.experiment import ALL, experiment_names

    return (ALL, *experiment_names())


complete_method = complete_from(_methods)
complete_verifier = complete_from(_verifiers)
complete_kind = complete_from(_kinds)
complete_layout = complete_from(_layouts)
complete_prompt = complete_from(_prompts)
complete_experiment = complete_from(_experiments)
complete_upstream = complete_from(lambda: ("local",))
