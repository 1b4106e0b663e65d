"""Defaults of options: steelyard.toml in the working directory, and STEELYARD_* environment variables.

    upstream = "http://127.0.0.1:8000/v1"   # for every verb that sends requests to the LLM
    score = "prm:min"                       # for every verb that reads a score
    [verbs.score]                           # options of one verb, if they are harmless (cli/config_safety.py)
    upstream = "http://127.0.0.1:8001/v1"

STEELYARD_UPSTREAM and STEELYARD_SCORE_UPSTREAM set the same in the environment. The command line takes precedence over
the environment, the environment over the file, and the file over the default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.cli.config_safety import TRUSTED, check_allowed
from steelyard.cli.console import plain
from steelyard.cli.verbs import kinds_of, options
from steelyard.foundation.environment import CLIENT_CERTIFICATE, CLIENT_KEY
from steelyard.foundation.errors import SettingError, did_you_mean, nearest
from steelyard.foundation.files import read_small
from steelyard.foundation.masking import has_secret

FILE, PREFIX, TABLE = Path("steelyard.toml"), "STEELYARD_", "verbs"
LARGEST = 1 << 20  # bytes of the file
ASKING = ("ask", "generate", "doctor")  # verbs that use the LLM; a verifier has another server
SHARED: dict[str, tuple[str, ...] | None] = {
    "upstream": ASKING, "model": ASKING, "key-env": None, "score": None, "answers": None, "rename": None, "seed": None,
    "prompt": None, "temperature": None, "top-p": None, "max-tokens": None, "concurrency": None, "max-failures": None,
}  # fmt: skip  # options that may be set for all verbs, and which verbs; None: every verb with such an option
SECRET_NAME = re.compile(r"(?:key|token|secret|password|credential|bearer)s?$", re.IGNORECASE)
SECRET = re.compile(r"\b(?:sk|pk|hf|ghp|gsk|xai|api)[-_][\w-]{16,}|Bearer\s|AIza[\w-]{20,}|://[^/\s]*@")
VARIABLES = re.compile(r"[A-Za-z_]\w{0,99}|[^\s=,]{1,100}=[A-Za-z_]\w{0,99}(?:,[^\s=,]{1,100}=[A-Za-z_]\w{0,99})*")
WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a string", list: "a list of strings"}


@dataclass(frozen=True)
class Default:
    """One default value of one verb, and its origin."""

    verb: str
    key: str
    parameter: str
    value: Any
    origin: str


def read_defaults(commands: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> list[Default]:
    """Read all values of the file and then of the environment, checked; later ones take precedence."""
    in_file = [*_in_file(commands)] if FILE.exists() else []
    return [*in_file, *_in_environment(commands, os.environ if environment is None else environment)]


def _content() -> dict[str, Any]:
    """Read the file, which is TOML of at most a megabyte."""
    import tomllib

    if not FILE.is_file():
        raise SettingError(f"cannot read {FILE}: it is not a file; remove it")
    try:
        return tomllib.loads(read_small(FILE, LARGEST).decode())
    except OSError as error:
        raise SettingError(f"cannot read {FILE}: {error.strerror or error}") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise SettingError(f'{FILE} is not TOML ({error}): write lines such as upstream = "local"') from None


def _in_file(commands: Mapping[str, Any]) -> Iterator[Default]:
    content = _content()
    tables = content.pop(TABLE, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise SettingError(f"{TABLE!r} in {FILE} must contain tables: write [{TABLE}.score] with options under it")
    for key, value in content.items():
        if key not in SHARED:
            raise SettingError(_unknown(key, value, f"{FILE}", SHARED, commands))
        yield from _shared(commands, key, value, str(FILE))
    for verb, table in tables.items():
        if verb not in commands:
            raise SettingError(
                f"unknown command {verb!r} in [{TABLE}.{verb}] of {FILE}: {did_you_mean(verb, commands)}"
            )
        own = options(commands[verb])
        for key, value in table.items():
            where = f"[{TABLE}.{verb}] of {FILE}"
            if key not in own:
                raise SettingError(_unknown(key, value, where, own, commands))
            checked = _checked(commands[verb], own[key], value, where)
            check_allowed(verb, key, checked, where, _variable(f"{verb}-{key}"))
            yield Default(verb, key, own[key].name, checked, where)


def _shared(commands: Mapping[str, Any], key: str, value: Any, where: str) -> Iterator[Default]:
    for verb in SHARED[key] or commands:
        own = options(commands[verb])
        if key in own:
            checked = _checked(commands[verb], own[key], value, where)
            if not where.startswith("$"):
                check_allowed(verb, key, checked, where, _variable(key))
            yield Default(verb, key, own[key].name, checked, where)


def _in_environment(commands: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[Default]:
    """The value of every variable that is set; empty and unknown variables are ignored."""
    if not any(variable.startswith(PREFIX) for variable in environment):
        return  # no verb needs to be loaded
    keys = {_variable(key): key for key in SHARED}
    for variable, key in keys.items():
        if text := environment.get(variable):
            yield from _shared(commands, key, text, f"${variable}")
    for verb, command in commands.items():
        for key, parameter in options(command).items():
            variable = _variable(f"{verb}-{key}")
            if text := environment.get(variable):
                value = _checked(command, parameter, text, f"${variable}")
                yield Default(verb, key, parameter.name, value, f"${variable}")


def misspelt_variables(commands: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Unknown STEELYARD_* variables, each with the one that was probably meant."""
    if not any(variable.startswith(PREFIX) for variable in environment):
        return  # no verb needs to be loaded
    own = {_variable(f"{verb}-{key}") for verb, command in commands.items() for key in options(command)}
    names = {_variable(key) for key in SHARED} | own | {TRUSTED, CLIENT_KEY, CLIENT_CERTIFICATE}
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in names and (near := nearest(variable, names)):
            yield variable, near


def _variable(key: str) -> str:
    return PREFIX + key.replace("-", "_").upper()


def _unknown(key: str, value: Any, where: str, keys: Mapping[str, Any], commands: Mapping[str, Any]) -> str:
    if SECRET_NAME.search(key) or _secret(value):
        return (
            f"{key!r} in {where} looks like a secret: remove it here, put it into an environment variable, and name "
            "that variable with --key-env"
        )
    if any(key in options(command) for command in commands.values()):
        verbs = [verb for verb, command in commands.items() if key in options(command)]
        return f"{key!r} in {where} is not an option of every command: put it under [{TABLE}.{verbs[0]}]"
    return f"unknown key {key!r} in {where}: {did_you_mean(key, keys)}"


def _secret(value: Any) -> bool:
    return isinstance(value, str) and bool(SECRET.search(value) or has_secret(value))


def _checked(command: Any, parameter: Any, value: Any, where: str) -> Any:
    """Return the value as the option takes it; a value of the wrong type is an error."""
    key = max(parameter.opts, key=len).lstrip("-")
    if _secret(value) or (key == "key-env" and not VARIABLES.fullmatch(str(value))):
        raise SettingError(
            f"the value of {key} in {where} looks like a secret: put it into an environment variable, and name "
            "that variable with --key-env"
        )
    kind, many = kinds_of(command)[parameter.name]
    texts = value if isinstance(value, list) else [value]
    if many and all(isinstance(text, str) for text in texts):
        return texts
    if not many and where.startswith("$") and (read := _read(kind, value)) is not None:
        return read
    if not many and type(value) in {bool: (bool,), int: (int,), float: (int, float), str: (str,)}[kind]:
        return value
    raise SettingError(f"{key} in {where} must be {WORDS[list if many else kind]}, not {plain(repr(value)):.60}")


def _read(kind: type, text: str) -> bool | float | str | None:
    """Parse the text of a variable; None if it is not of this kind."""
    if kind is bool:
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower())
    try:
        read: float | str = kind(text)
    except ValueError:
        return None
    return read
