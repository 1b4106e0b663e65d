"""The manifest of a run: its questions, prompt, model and parameters. Samples with other settings are refused."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import write_atomically
from steelyard.foundation.version import __version__
from steelyard.runs.lock import check_no_store
from steelyard.runs.parameters import MAX_SAMPLES, MAX_SAMPLES_PER_SOURCE, check_sources, number_of, source_changes

FILE = "manifest.json"
TABLE = "table.parquet"  # of the responses, beside it
FORMAT = "steelyard-run"
VERSION = 1
OF_SOURCES = 2  # version of a run with sources, which Steelyard 1.0 and older would misread
IMPORTED = "imported"  # in `params`: the run was made from a table of responses
_KINDS = {"n": int, "seed": int, "params": dict, "sources": dict}  # all others are str
MAY_CHANGE = ("n", "answers", "upstream", "questions_file", "steelyard")  # n may only grow


@dataclass(frozen=True)
class Manifest:
    """The configuration of a run, without any API key.

    `params` is sent with every request (temperature, top_p, max_tokens, ..), `answers` is the kind of answer to extract
    from a response, and `upstream` is the address without user and password, for information. In a run with several
    upstreams, `sources` has the model and the address of each by name, and `model` and `upstream` are empty.
    """

    questions_sha256: str
    model: str
    n: int
    seed: int = 0
    prompt: str = "{prompt}"
    params: dict[str, Any] = field(default_factory=dict)
    answers: str = "math"
    upstream: str = ""
    questions_file: str = ""
    steelyard: str = __version__
    sources: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "upstream", _without_user(self.upstream))

    def check(self) -> None:
        """Raise a ValueError for a value that no command would write."""
        for item in fields(self):
            kind, value = _KINDS.get(item.name, str), getattr(self, item.name)
            if type(value) is not kind:
                raise ValueError(f"{item.name} is {value!r:.40}")
        if not 1 <= self.n <= (MAX_SAMPLES_PER_SOURCE if self.sources else MAX_SAMPLES):
            raise ValueError(f"n is {self.n!r:.40}")
        check_sources(self.sources)
        if self.rows is not None and (type(self.rows) is not int or self.rows < 1):
            raise ValueError(f"params.{IMPORTED}.rows is {self.rows!r:.40}")

    @property
    def rows(self) -> int | None:
        """The number of rows of the table that a run was made from; None for a run of `generate`."""
        imported = self.params.get(IMPORTED)
        return imported.get("rows", 0) if isinstance(imported, dict) else None if imported is None else 0

    @property
    def numbers(self) -> list[int]:
        """The journal numbers of all samples of a question."""
        sources = range(len(self.sources))
        return [number_of(i, k) for i in range(self.n) for k in sources] if self.sources else list(range(self.n))

    def changes(self, other: Manifest) -> list[str]:
        """Describe the settings of `other` that are incompatible with this run, one sentence each.

        >>> Manifest("ab", "m", 8, params={"top_p": 1}).changes(Manifest("ab", "m", 4, params={"top_p": 0.9}))
        ['params.top_p was 1, now 0.9', 'n was 8, now 4']
        """
        before, after = _flat(asdict(self)), _flat(asdict(other))
        names = [name for name in before | after if name not in MAY_CHANGE and before.get(name) != after.get(name)]
        others = {"model"} if bool(self.sources) != bool(other.sources) else set()
        names = [name for name in names if not name.startswith("sources.") and name not in others]
        names += ["n"] if other.n < self.n else []
        messages = [f"{name} was {_shown(before.get(name))}, now {_shown(after.get(name))}" for name in names]
        return source_changes(self.sources, other.sources) + messages

    @property
    def content(self) -> dict[str, Any]:
        """The content of manifest.json."""
        content = {"format": FORMAT, "version": OF_SOURCES if self.sources else VERSION, **asdict(self)}
        if not self.sources:
            del content["sources"]
        return content

    def write(self, folder: Path) -> None:
        """Write manifest.json in one step."""
        content = json.dumps(self.content, indent=2, ensure_ascii=False) + "\n"
        write_atomically(folder / FILE, content.encode(), durable=True, follow=False)

    @classmethod
    def of(cls, content: dict[str, Any], folder: Path) -> Manifest:
        """Parse the content of a manifest.json; invalid content raises a ValueError, KeyError or TypeError."""
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
        if content["version"] > OF_SOURCES:
            raise RunError(f"{folder} was made by Steelyard {content['steelyard']}: install that or a newer one")
        manifest = cls(**{item.name: content[item.name] for item in fields(cls) if item.name != "sources"})
        manifest = replace(manifest, sources=content.get("sources", {}))
        manifest.check()
        return manifest

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read manifest.json, or raise a RunError that says why the folder is not a run."""
        path = folder / FILE
        try:
            return cls.of(json.loads(path.read_text(encoding="utf-8")), folder)
        except FileNotFoundError:
            if (folder / "feedback.json").exists():
                raise RunError(
                    f"{folder} contains feedback and is not a run: 'steelyard fit {folder}' reads it"
                ) from None
            if (folder / "journal.jsonl").exists() or (folder / TABLE).exists():
                table = folder / TABLE
                raise RunError(
                    f"{folder} has lost its {FILE}: restore it; {table} can still be read by its path"
                ) from None
            check_no_store(folder)
            if not folder.exists():
                raise RunError(
                    f"no such folder: {folder}; correct the path, or make a run with 'steelyard generate QUESTIONS "
                    f"-o {folder}'"
                ) from None
            raise RunError(f"{folder} is not a run: it has no {FILE}; make one with 'steelyard generate'") from None
        except RecursionError:
            raise RunError(f"{path} is damaged (it is nested too deeply): restore it, or start another run") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{path} is damaged ({error}): restore it, or start another run") from None


def _without_user(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _flat(values: dict[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return flat


def _shown(value: Any) -> str:
    is_hash = isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)
    text = "not set" if value is None else value[:12] + ".." if is_hash else repr(value)
    return text if len(text) <= 60 else f"{text[:28]} .. {text[-28:]}"


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
