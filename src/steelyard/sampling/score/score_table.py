"""Copies a table of responses into a run beside it, so that it is scored as durably as a run of `generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, RunError, SettingError, TableError
from steelyard.runs.manifest import FILE, IMPORTED, Manifest
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocol import EmbeddingProtocol, Protocol, RecordedProtocol
from steelyard.tables.response_rows import LOG_PROBABILITIES, Rows, rows_of
from steelyard.tables.sources.bundled_grid import is_grid

TABLES = {".parquet", ".pq", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".arrow", ".feather", ".eval"}
NO_NAME = set("*?[")  # a pattern matches many files
SUFFIXES = TABLES | {".gz", ".zst"}


def is_run(source: Any) -> bool:
    """Whether a source is a run already."""
    return isinstance(source, str | Path) and (Path(source) / FILE).is_file()


def run_beside(source: Any, output: str | Path | None) -> Path:
    """The folder of the run of a table: the explicit one, else beside the file and named after it.

    >>> run_beside("data/responses.jsonl.gz", None).as_posix()
    'data/responses.scored'
    """
    if output is not None:
        return Path(output)
    if not isinstance(source, str | Path) or _nameless(str(source)):
        raise SettingError("the scores need a folder of their own: name the folder of a run with -o (output=)")
    name = Path(source)
    while name.suffix.lower() in SUFFIXES:
        name = name.with_suffix("")
    return name.with_name(f"{name.name}.scored")


def _nameless(source: str) -> bool:
    """Whether a source has no name that a folder could be named after."""
    return is_grid(source) or source == "-" or (bool(NO_NAME & set(source)) and not Path(source).exists())


def imported(
    source: Any, output: str | Path | None, rename: dict[str, str] | None, layout: str | None, protocol: Protocol
) -> Run:
    """Open the run of a table for writing, with all rows of the table; create it if it does not exist."""
    folder = run_beside(source, output)
    rows = rows_of(source, rename=rename, layout=layout)
    manifest = Manifest(
        rows.fingerprint(), rows.llm, rows.n, params={IMPORTED: {"rows": rows.table.height, "columns": rows.kinds}},
        questions_file=Path(source).name if isinstance(source, str | Path) else "",
    )  # fmt: skip
    _check_same(source, folder, manifest)
    if isinstance(protocol, RecordedProtocol) and all(protocol.read(record) is None for record in rows.records()):
        raise TableError(
            f"{source}: {protocol.missing}: add a column {LOG_PROBABILITIES[0]!r}, a list of those of the tokens of "
            "each response, or choose another verifier"
        )
    check_prompts(protocol, rows.kinds, source)
    return _filled(Run.start(folder, manifest, rows.questions()), rows)


def check_prompts(protocol: Protocol, columns: Any, source: Any) -> None:
    """Refuse a table without prompts, unless the verifier does not read the question."""
    if "prompt" not in columns and not isinstance(protocol, RecordedProtocol | EmbeddingProtocol):
        raise ColumnError(
            f"{source} has no column 'prompt', the text of the question, which the verifier reads: add it, or rename "
            f"yours ({argument('rename', {'yours': 'prompt'})})"
        )


def _check_same(source: Any, folder: Path, manifest: Manifest) -> None:
    """Refuse a folder that belongs to something else, before anything is written to it."""
    if not (folder / FILE).exists():
        return
    existing = Manifest.read(folder)
    if IMPORTED not in existing.params:
        raise RunError(f"{folder} is a run of 'steelyard generate': name another folder with -o")
    if existing.questions_sha256 != manifest.questions_sha256:
        raise RunError(
            f"{source} is not what {folder} was made from ({existing.questions_file or 'a table'} as it was then): "
            "score the changed table into another folder with -o, or continue the run as it is: 'steelyard score "
            f"{folder}'"
        )


def _filled(run: Run, rows: Rows) -> Run:
    """Write the missing rows to the journal."""
    try:
        run.add_all(record for record in rows.records() if not run.has(record["question"], record["sample"]))
    except BaseException:
        run.close()
        raise
    return run
