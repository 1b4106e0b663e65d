"""A fitted method as plain JSON: what it is, what it learned, where that came from, and when to stop sampling.

A plan is read by people and by other programs, so it is never a pickle, and a plan that is
damaged, made by a newer Steelyard, or holds more or larger things than a fit can make, is refused with a reason:
every number, text and list is bounded here, so that a method adds and multiplies without a thought of overflow.
This file knows the format only; what a method stores, and which values make sense, is the method's business.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.foundation.errors import PlanError
from steelyard.foundation.files import address_of, write_atomically
from steelyard.foundation.outputs import Kind, check_output
from steelyard.foundation.version import __version__
from steelyard.voting.methods.base.provenance import Provenance

FORMAT = "steelyard-plan"
VERSION = 1
LARGEST = 64 << 20  # bytes
LARGE, SMALL = 1e15, 1e-200  # a number that is not 0 lies between these, whatever its sign
MOST_TEXT = 1 << 16  # characters
MOST_LISTED = 1 << 22  # entries of a list: more would not fit into a file that we read
MOST_NAMED = 1000  # entries of an object
LIMITS = {"inf": math.inf, "-inf": -math.inf}  # JSON has no infinity, an offset has


@dataclass(frozen=True)
class Plan:
    """The content of a plan file."""

    method: str
    settings: dict[str, Any]
    learned: dict[str, Any]
    fitted_on: Provenance | None
    stopping: dict[str, Any] | None = None  # the rule and its settings
    mix: dict[str, Any] | None = None  # how several scores are made one; plans for one score have none
    made_by: str | None = None  # the class of a method that is not Steelyard's own
    cascade: dict[str, Any] | None = None  # whom to ask next, where sources have prices
    asking: dict[str, Any] | None = None  # which responses the verifier reads, where that was learned
    samples: dict[str, Any] | None = None  # how many samples to draw per question, by source


KNOWN = tuple(f.name for f in fields(Provenance))


def _wrote(path: Path) -> bool:
    """Whether Steelyard wrote a plan to a file: its front says so."""
    with path.open("rb") as file:
        return re.match(rb'\{\s*"format":\s*"%s"' % FORMAT.encode(), file.read(200)) is not None


PLAN = Kind("a plan", (".json", ""), _wrote)


def write_plan(plan: Plan, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a plan where it may go (steelyard/foundation/outputs.py); the file appears whole or not at all."""
    check_output(path, PLAN, overwrite=overwrite)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "steelyard": __version__,
        "method": plan.method,
        "settings": plan.settings,
        "fitted_on": None if plan.fitted_on is None else plan.fitted_on.as_dict(),
        "learned": plan.learned,
    }
    if plan.stopping is not None:
        content["stopping"] = plan.stopping
    if plan.cascade is not None:
        content["cascade"] = plan.cascade
    if plan.asking is not None:
        content["asking"] = plan.asking
    if plan.samples is not None:
        content["samples"] = plan.samples
    if plan.mix is not None:
        content["mix"] = plan.mix
    if plan.made_by is not None:
        content["class"] = plan.made_by
    write_atomically(path, _pretty(_to_json(content)).encode())


def read_plan(path: str | Path) -> Plan:
    """Read a plan, or say in one line why it cannot be used."""
    address = address_of(path)
    if address:
        raise PlanError(f"{address} is an address, and plans are read from files: copy it here, and name the path")
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise PlanError(f"{path} is not a plan: it is not a file")
        if Path(path).stat().st_size > LARGEST:
            raise PlanError(f"{path} is not a plan: it is larger than {LARGEST >> 20} MB")
        content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_constant)
    except FileNotFoundError:
        raise PlanError(f"no such plan: {path}; make one with 'steelyard fit FILE -o {path}'") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not a plan: it is not JSON text; make one with 'steelyard fit'") from None
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(f"{path} is not a plan: {error}; make it again with 'steelyard fit'") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise PlanError(f'{path} is not a Steelyard plan: it has no "format": "{FORMAT}"')
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise PlanError(
            f"{path} has plan version {content.get('version')!r}, this Steelyard reads version {VERSION}: "
            "upgrade Steelyard, or fit the plan again"
        )
    try:
        fitted_on = content["fitted_on"]
        return Plan(
            str(_bounded(content["method"])),
            dict(_bounded(content["settings"]).items()),
            {key: _from_json(value) for key, value in _bounded(content["learned"]).items()},
            None
            if fitted_on is None
            else _provenance({"reference_scores": (), "source": None, "answers": None, "rename": {}} | fitted_on),
            _object(content["stopping"], "stopping") if "stopping" in content else None,
            _bounded(content.get("mix")),
            None if "class" not in content else str(_bounded(content["class"])),
            _object(content["cascade"], "cascade") if "cascade" in content else None,
            _object(content["asking"], "asking") if "asking" in content else None,
            _object(content["samples"], "samples") if "samples" in content else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise PlanError(f"{path} is a damaged plan ({error!r:.100}): fit it again") from None


def _provenance(stored: dict[str, Any]) -> Provenance:
    stored = _bounded(stored)
    for name in ("n", "questions", "responses"):
        if type(stored[name]) is not int or stored[name] < 1:
            raise ValueError(f"{name} is {stored[name]!r:.40}")
    for name in ("score", "llm", "verifier", "source", "answers"):
        if not isinstance(stored[name], str | None):
            raise TypeError(f"{name} is {stored[name]!r:.40}")
    for name in ("accuracy", "standard_error"):
        if type(stored[name]) not in (int, float, type(None)) or not 0 <= (stored[name] or 0) <= 1:
            raise ValueError(f"{name} is {stored[name]!r:.40}")
    if not isinstance(stored["rename"], dict) or not all(isinstance(new, str) for new in stored["rename"].values()):
        raise TypeError(f"rename is {stored['rename']!r:.40}")
    if not all(type(z) in (int, float) for z in stored["reference_scores"]):
        raise ValueError("a reference score that is not a number")
    stored["reference_scores"] = tuple(map(float, stored["reference_scores"]))
    return Provenance(**{f.name: stored[f.name] for f in fields(Provenance)})


def _object(stored: Any, name: str) -> dict[str, Any]:
    if not isinstance(stored, dict):
        raise TypeError(f"{name} is {stored!r:.40}")
    return dict(_bounded(stored))


def _bounded(value: Any) -> Any:
    """Return a value as it is, or raise a ValueError where something in it is larger than any fit makes it."""
    if isinstance(value, dict):
        if len(value) > MOST_NAMED or any(len(name) > MOST_TEXT for name in value):
            raise ValueError("too many names, or one too long")
        for inner in value.values():
            _bounded(inner)
    elif isinstance(value, list):
        if len(value) > MOST_LISTED:
            raise ValueError("a list too long")
        for inner in value:
            _bounded(inner)
    elif isinstance(value, str):
        if len(value) > MOST_TEXT:
            raise ValueError("a text too long")
    elif value and not SMALL <= abs(value) <= LARGE:
        raise ValueError("a number too large, or too near to 0")
    return value


def _no_constant(constant: str) -> float:
    raise ValueError(f"it holds {constant}, which no fitted value can be")


def _to_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _to_json(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return [_to_json(inner) for inner in value.tolist()]
    if isinstance(value, np.generic):
        return _to_json(value.item())
    if isinstance(value, float):
        if math.isnan(value):
            raise PlanError("a fitted value is NaN: this is a defect of the method, not of your data")
        return str(value) if math.isinf(value) else float(value)
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _from_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        array = np.array([_from_json(inner) for inner in value], np.float64)
        if array.ndim != 1 or np.isnan(array).any():
            raise ValueError("a list that is not one of numbers")
        return array
    if isinstance(value, str):
        return LIMITS[value]
    return float(value) if type(value) is int else value


def _pretty(content: dict[str, Any]) -> str:
    """One key a line down to the second level; lists stay on their line."""
    lines = []
    for key, value in content.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in value.items())
            lines.append(f"  {json.dumps(key)}: {{\n{inner}\n  }}")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
