"""steelyard methods: list the methods and explain their settings; parse settings given as KEY=VALUE."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from inspect import cleandoc
from math import isfinite, isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli.completion import complete_method
from steelyard.cli.options import Json
from steelyard.cli.text_tables import print_table
from steelyard.foundation.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from steelyard import Method
    from steelyard.voting.methods.base.setting import Setting

EXAMPLE = "Example: steelyard methods\n\nExample: steelyard methods kde"


def run(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Method to explain. Default: list all.", autocompletion=complete_method),
    ] = None,
    json: Json = False,
) -> None:
    """List all methods, including those of other packages, or explain the settings of one."""
    if name is None:
        _list(json)
    else:
        _explain(name, json)


def _list(json: bool) -> None:
    import steelyard as sy

    methods = [_description(name) for name in sy.method_names()]
    if json:
        console.as_json({"methods": methods})
        return
    rows = [(row["method"], _kind(row), row["package"], row["what"]) for row in methods]
    print_table("Methods", ("method", "", "package", "what it does"), rows, text=True)
    console.say(
        "Learns: it needs labels to be fitted. Oracle: it reads labels when it votes, and can only be measured."
    )
    console.say("The settings of one: steelyard methods NAME")


def _description(name: str) -> dict[str, Any]:
    """One method; one of another package that is broken is listed too, with what is wrong with it."""
    from steelyard.voting.methods import method_class, registry

    package = registry().origin(name)
    try:
        kind = method_class(name)
    except SettingError as error:
        return {"method": name, "what": str(error), "learns": None, "oracle": None, "package": package}
    return {"method": name, "what": _sentence(kind), "learns": kind.learns, "oracle": kind.oracle, "package": package}


def _kind(row: dict[str, Any]) -> str:
    return "broken" if row["learns"] is None else "oracle" if row["oracle"] else "learns" if row["learns"] else ""


def _sentence(kind: type[Method]) -> str:
    """The first sentence of a class's docstring; nothing for what a dataclass writes there by itself."""
    text = " ".join(cleandoc(kind.__doc__ or "").partition("\n\n")[0].split())
    return "" if text.startswith(f"{kind.__name__}(") else re.split(r"(?<=\.)\s", text)[0]


def _explain(name: str, json: bool) -> None:
    from steelyard.voting.methods import method_class
    from steelyard.voting.methods.base.setting import settings_of

    kind = method_class(name)
    settings: list[dict[str, Any]] = [
        {"name": item.name, "type": item.type_text, "default": _plain(item.default), "meaning": item.meaning}
        for item in settings_of(kind)
    ]
    example = _example(kind, settings)
    if json:
        console.as_json({**_description(name), "settings": settings, "example": example})
        return
    info = _description(name)
    console.say(f"{name} (package {info['package']}{', ' * bool(_kind(info))}{_kind(info)}): {info['what']}\n")
    if settings:
        rows = [(row["name"], row["type"], _typed(row["default"]), row["meaning"]) for row in settings]
        print_table("Settings, each given as --set NAME=VALUE", ("name", "type", "default", "meaning"), rows, text=True)
    else:
        console.say("It has no settings.\n")
    console.say(f"Example: {example}")


def _example(kind: type[Method], settings: list[dict[str, Any]]) -> str:
    """A command that uses the method, with its first setting that has a value."""
    if kind.oracle:
        return shlex.join(["steelyard", "evaluate", "labelled.parquet", "--method", f"majority,{kind.name}"])
    first = [f"{item['name']}={_typed(item['default'])}" for item in settings if item["default"] is not None][:1]
    words = [word for pair in first for word in ("--set", pair)]
    return shlex.join(["steelyard", "fit", "labelled.parquet", "--method", kind.name, *words, "-o", "plan.json"])


def _plain(value: object) -> object:
    """A value that JSON can hold, as it is where it can."""
    return (
        value
        if value is None or isinstance(value, int | str) or (isinstance(value, float) and isfinite(value))
        else str(value)
    )


def _typed(value: object) -> str:
    """A value as --set takes it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def settings_from(method: type[Method], pairs: list[str] | None) -> dict[str, Any]:
    """Read the settings of a method, each in a text of its own.

    >>> from steelyard.paper import KDEVote
    >>> settings_from(KDEVote, ["bins=20", "bandwidth=none"])
    {'bins': 20, 'bandwidth': None}
    """
    from steelyard.voting.methods.base.setting import settings_of

    settings = {setting.name: setting for setting in settings_of(method)}
    read: dict[str, Any] = {}
    for pair in pairs or []:
        key, sep, text = pair.partition("=")
        if not (key and sep):
            raise SettingError(f"cannot set {pair!r}: write KEY=VALUE; {_explained(method)}")
        if key not in settings:
            raise SettingError(
                f"{method.name} has no setting {key!r}: {did_you_mean(key, settings)}; {_explained(method)}"
            )
        if key in read:
            raise SettingError(f"{key} is set twice: give every setting once")
        read[key] = _value(method, settings[key], text)
    return read


def _explained(method: type[Method]) -> str:
    return f"'steelyard methods {method.name}' explains its settings"


def _value(method: type[Method], setting: Setting, text: str) -> Any:
    """The text as the first of the setting's types that can be read from it."""
    for kind, reader in READERS.items():
        if kind in setting.kinds:
            try:
                return reader(text)
            except ValueError:
                continue
    if not any(kind in READERS for kind in setting.kinds):
        raise SettingError(f"{setting.name} is {setting.type_text}, which only Python can set: set it there")
    raise SettingError(f"{setting.name} must be {setting.type_text}, not {text!r}; {_explained(method)}")


def _one_of(**words: bool | None) -> Callable[[str], bool | None]:
    def read(text: str) -> bool | None:
        if text.lower() not in words:
            raise ValueError(text)
        return words[text.lower()]

    return read


def _number(text: str) -> float:
    value = float(text)
    if isnan(value):
        raise ValueError(text)
    return value


READERS: dict[Any, Callable[[str], Any]] = {
    type(None): _one_of(none=None),
    bool: _one_of(true=True, false=False),
    int: int,
    float: _number,
    str: str,
}  # the narrower first
