"""The verbs of the command line, in the panels of `steelyard --help`. A verb's module is imported when it is used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from keyword import iskeyword
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from steelyard.cli.config_safety import check_servers
from steelyard.cli.console import aside
from steelyard.foundation.errors import SettingError
from steelyard.foundation.lazy_names import quick_import
from steelyard.foundation.masking import has_secret, mask_addresses

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
        "leaderboard": "Rank the methods on several sets of labelled responses.",
    },
    "Read": {
        "answers": "Show the answers read from responses, and which are equal.",
        "import": "Convert files of any layout to one table.",
        "layouts": "List the recognised file layouts.",
        "similarities": "List the similarities of free-text responses.",
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
        "partition": "Split a large table into parts.",
    },
    "The paper": {
        "reproduce": "Make the tables and figures of the paper.",
        "grid": "List the bundled LLMs and verifiers.",
        "simulate": "Write a table of simulated responses.",
    },
}
VERBS = tuple(name for panel in PANELS.values() for name in panel)
BARE = {"--frugal": "auto"}  # options that may have no value if the verb has a verifier, and their default
ADDRESSED = {"FILE", "[FILE]", "URL"}  # metavars of values that may be addresses
NOT_IN_A_FILE = {"help", "json", "output", "overwrite"}
MANY = 12  # options; a verb with fewer shows them in one panel
OPTION_PANELS = {
    "Input": "answers labels layout rename",
    "Requests": "concurrency fan-out key-env logprobs max-failures retries sample-timeout try-timeout",
    "Verifier": "frugal verifier-key-env verifier-local verifier-model verifier-upstream",
    "Workers": "engine gpus-per-worker parts workers",
    "Cost": "confirm-above dry-run price-response price-score probe token-price",
    "Server": "access-log allow-field allow-host cap feedback keep-texts key-file unsafe-no-key",
    "Advanced": "as confidence-level context fork set shuffle-scores split top-p unlabelled",
}
PANEL_OF = {option: panel for panel, names in OPTION_PANELS.items() for option in names.split()}


@cache
def load(name: str) -> Any:
    """The command of a verb, with its arguments and options."""
    module = quick_import(f"steelyard.cli.{name.replace('-', '_')}{'_' if iskeyword(name) else ''}")
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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the verb."""
        with plain_values(ctx, self.get_params(ctx)):
            return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Print the panels. Typer's own help looks the same, and loads a Markdown parser first."""
        from rich.console import Console
        from rich.padding import Padding
        from rich.panel import Panel
        from rich.table import Table

        console = Console(highlight=False, markup=False)
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        console.print(Padding(self.get_usage(ctx), 1), style="bold")
        console.print(Padding(self.help or "", (0, 1, 1, 1)))
        for title, rows in {"Options": dict(filter(None, records)), **PANELS}.items():
            table = Table.grid(padding=(0, 2))
            table.add_column(style="bold cyan", no_wrap=True, min_width=max(map(len, VERBS)))
            for name, summary in rows.items():
                table.add_row(name, summary)
            console.print(Panel(table, title=title, title_align="left", border_style="dim"))
        console.print(Padding(self.epilog or "", 1))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the verb that is named."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load(name), rest


class Verb(TyperCommand):
    """One verb."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and options, for the help."""
        return without_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help without a column for --no-X options, which are named in the help texts."""
        opposites = [(parameter, parameter.secondary_opts) for parameter in self.params]
        try:
            for parameter, _ in opposites:
                parameter.secondary_opts = []
            super().format_help(ctx, formatter)
        finally:
            for parameter, opposite in opposites:
                parameter.secondary_opts = opposite

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the default of an option without a value."""
        own = {name for param in self.params for name in param.opts}
        with plain_values(ctx, self.get_params(ctx)):
            return super().parse_args(ctx, list(_with_values(args, own)))

    def invoke(self, ctx: Any) -> Any:
        """Print the defaults from steelyard.toml, refuse an untrusted server in it, and run the command."""
        mine = {
            item.parameter: item for item in ctx.obj or [] if item.verb == self.name
        }  # the last one takes precedence
        filed = [item for item in mine.values() if not item.origin.startswith("$") and _defaulted(ctx, item.parameter)]
        for item in filed:
            check_servers(item.key, item.value)
        for parameter in self.params:
            check_no_secrets(parameter, ctx.params.get(parameter.name))
        added = [
            f"{item.key} = {', '.join(item.value) if isinstance(item.value, list) else item.value}" for item in filed
        ]
        if added:
            aside(f"From steelyard.toml: {'; '.join(added)}")
        return super().invoke(ctx)


def check_no_secrets(parameter: Any, value: Any) -> None:
    """Refuse an address with a password or token where a file or a server is named, before anything prints it."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if (isinstance(item, Path) or parameter.metavar in ADDRESSED) and has_secret(str(item)):
            address = re.sub(r"^(\w+):/+", r"\1://", str(item))  # a path has lost a slash
            raise SettingError(
                f"{mask_addresses(address)} ({_name_of(parameter)}) contains a password or token, and addresses are "
                "printed and stored: leave it out, and put it into the environment"
            )


def _name_of(parameter: Any) -> str:
    name = max(parameter.opts, key=len)
    return str(name if name.startswith("-") else parameter.metavar or name)


def options(command: Any) -> dict[str, Any]:
    """The options of a verb that a configuration file may set, by name without dashes."""
    settable: dict[str, Any] = {}
    for parameter in command.params:
        name = max(parameter.opts, key=len)
        if name.startswith("-") and not getattr(parameter, "hidden", False) and name.lstrip("-") not in NOT_IN_A_FILE:
            settable[name.lstrip("-")] = parameter
    return settable


def kinds_of(command: Any) -> dict[str, tuple[type, bool]]:
    """The type of every parameter of a verb, bool, int, float or str, and whether it may have several values."""
    return {name: _kind(hint) for name, hint in get_type_hints(command.callback).items()}


def _kind(hint: Any) -> tuple[type, bool]:
    parts = [part for part in get_args(hint) if part is not NoneType] if NoneType in get_args(hint) else [hint]
    many = get_origin(parts[0]) is list
    kind = get_args(parts[0])[0] if many else parts[0]
    return (str if kind is Path else kind), many


def without_types(parameters: list[Any]) -> list[Any]:
    """Hide the type of options without a value: no <bool> beside --json."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


@contextmanager
def plain_values(ctx: Any, parameters: list[Any]) -> Iterator[None]:
    """Leave values as they are typed while a shell completes: typer would load pydantic to convert them."""
    if not ctx.resilient_parsing:
        yield
        return
    try:
        for parameter in parameters:
            parameter.process_value = lambda _ctx, value: value
        yield
    finally:
        for parameter in parameters:
            del parameter.process_value  # the method of its class again


def _defaulted(ctx: Any, parameter: str) -> bool:
    return bool(ctx.get_parameter_source(parameter).name == "DEFAULT_MAP")


def _with_values(words: list[str], own: set[str]) -> Iterator[str]:
    """The words of a command, with a value for an option without one: before another option, a file, or nothing."""
    end = words.index("--") if "--" in words else len(words)
    for i, word in enumerate(words):
        yield word
        if i < end and word in BARE and word in own and "--verifier" in own:
            following = words[i + 1] if i + 1 < end else None
            if following is None or following.startswith("-") or Path(following).exists():
                yield BARE[word]


def set_panels(command: Any) -> None:
    """Put the options of a command into their panels, in the order above, if it has many."""
    if len(command.params) <= MANY:
        return
    order = [None, *OPTION_PANELS]
    for parameter in command.params:
        parameter.rich_help_panel = PANEL_OF.get(max(parameter.opts, key=len).lstrip("-"))
    command.params.sort(key=lambda parameter: order.index(parameter.rich_help_panel))
