"""The verbs, by the panels of `steelyard --help`. A verb's module is imported when the verb is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from keyword import iskeyword
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from steelyard.cli.option_panels import set_panels
from steelyard.cli.verb import Verb, without_types

PANELS = {
    "Start": {
        "demo": "Try everything on bundled responses, in a minute or two.",
        "doctor": "Check the server, the verifier and this machine.",
    },
    "Decide": {
        "evaluate": "Measure voting methods on labelled responses.",
        "fit": "Fit a method to labelled responses, and save it as a plan.",
        "vote": "Decide every question, by a plan or a method.",
        "report": "Write an HTML report about labelled responses.",
        "compare": "Compare two methods, plans or files on the same questions.",
        "methods": "List the methods, or explain the settings of one.",
    },
    "Read": {
        "answers": "Show the answers read from responses, and which are equal.",
        "import": "Convert files of any layout to one table.",
        "layouts": "List the layouts of files that are recognised.",
    },
    "Sample": {
        "generate": "Sample an LLM n times per question.",
        "score": "Score responses with a verifier.",
        "status": "Show the progress, failures and cost of a run.",
        "ask": "Sample one question, and vote.",
        "serve": "Serve an OpenAI-compatible API that votes on every request.",
    },
    "Scale and cost": {
        "plan-budget": "Find the best use of a budget, and save it in a plan.",
        "partition": "Cut a large table into parts.",
    },
    "The paper": {
        "reproduce": "Make the tables and figures of the paper.",
        "grid": "List the bundled LLMs and verifiers.",
        "simulate": "Write a table of simulated responses.",
    },
}
VERBS = tuple(name for panel in PANELS.values() for name in panel)


@cache
def load(name: str) -> Any:
    """The command of a verb, with its arguments and options."""
    module = import_module(f"steelyard.cli.{name.replace('-', '_')}{'_' if iskeyword(name) else ''}")
    app = typer.Typer(add_completion=False)
    app.command(name, cls=Verb, epilog=module.EXAMPLE)(module.run)
    command = typer.main.get_command(app)
    set_panels(command)
    return command


class LoadedVerbs(Mapping[str, Any]):
    """All verbs as the parser knows them, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        if name not in VERBS:
            raise KeyError(name)
        return load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class VerbGroup(TyperGroup):
    """The command `steelyard`. Its help needs a line about each verb, and loads none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: TyperCommand(name, help=summary, rich_help_panel=panel)
            for panel, verbs in PANELS.items()
            for name, summary in verbs.items()
        }

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, for the help."""
        return without_types(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the verb that is named."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load(name), rest
