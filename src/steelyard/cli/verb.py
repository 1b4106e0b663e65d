"""A verb of the command line: its help, its options without a value, and the defaults it takes from a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from typer.core import TyperCommand

from steelyard.cli.show import aside
from steelyard.cli.strange_server import check_servers
from steelyard.foundation.errors import SettingError
from steelyard.foundation.masking import has_secret, mask_addresses

BARE = {"--frugal": "auto"}  # may stand without a value where a verifier is asked, and what it means then

ADDRESSED = {"FILE", "[FILE]", "URL"}  # metavars of texts that may be addresses
NOT_IN_A_FILE = {"help", "json", "output", "overwrite"}


class Verb(TyperCommand):
    """One verb."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and options, for the help."""
        return without_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help without a column of opposites, which takes the room of the others: their help names them."""
        opposites = [(parameter, parameter.secondary_opts) for parameter in self.params]
        try:
            for parameter, _ in opposites:
                parameter.secondary_opts = []
            super().format_help(ctx, formatter)
        finally:
            for parameter, opposite in opposites:
                parameter.secondary_opts = opposite

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the value that an option without one stands for."""
        own = {name for param in self.params for name in param.opts}
        return super().parse_args(ctx, list(_with_values(args, own)))

    def invoke(self, ctx: Any) -> Any:
        """Say what the file of defaults adds to the command, refuse a strange server in it, and run it."""
        mine = {each.parameter: each for each in ctx.obj or [] if each.verb == self.name}  # the last one is in force
        filed = [each for each in mine.values() if not each.origin.startswith("$") and _defaulted(ctx, each.parameter)]
        for each in filed:
            check_servers(each.key, each.value)
        for parameter in self.params:
            check_no_secrets(parameter, ctx.params.get(parameter.name))
        added = [
            f"{each.key} = {', '.join(each.value) if isinstance(each.value, list) else each.value}" for each in filed
        ]
        if added:
            aside(f"From steelyard.toml: {'; '.join(added)}")
        return super().invoke(ctx)


def check_no_secrets(parameter: Any, value: Any) -> None:
    """Refuse an address with a password or token where a file or a server is named, before anything prints it."""
    for each in value if isinstance(value, list | tuple) else [value]:
        if (isinstance(each, Path) or parameter.metavar in ADDRESSED) and has_secret(str(each)):
            address = re.sub(r"^(\w+):/+", r"\1://", str(each))  # a path has lost a slash
            raise SettingError(
                f"{mask_addresses(address)} ({_name_of(parameter)}) contains a password or token, and addresses are "
                "printed and stored: leave it out, and put it into the environment"
            )


def _name_of(parameter: Any) -> str:
    name = max(parameter.opts, key=len)
    return str(name if name.startswith("-") else parameter.metavar or name)


def options(command: Any) -> dict[str, Any]:
    """What can be set of a verb in a file of defaults, by the name of the option without its dashes."""
    found: dict[str, Any] = {}
    for parameter in command.params:
        name = max(parameter.opts, key=len)
        if name.startswith("-") and not getattr(parameter, "hidden", False) and name.lstrip("-") not in NOT_IN_A_FILE:
            found[name.lstrip("-")] = parameter
    return found


def kinds_of(command: Any) -> dict[str, tuple[type, bool]]:
    """The type of every parameter of a verb, bool, int, float or str, and whether it may have several values."""
    return {name: _kind(hint) for name, hint in get_type_hints(command.callback).items()}


def _kind(hint: Any) -> tuple[type, bool]:
    parts = [part for part in get_args(hint) if part is not NoneType] if NoneType in get_args(hint) else [hint]
    many = get_origin(parts[0]) is list
    kind = get_args(parts[0])[0] if many else parts[0]
    return (str if kind is Path else kind), many


def without_types(parameters: list[Any]) -> list[Any]:
    """An option that takes no value shows none: no <bool> beside --json."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


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
