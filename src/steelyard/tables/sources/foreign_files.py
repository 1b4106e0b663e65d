"""Files in formats that are not read, recognised by their first bytes: what they are and how to convert them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from steelyard.foundation.errors import TableError

HEAD = 512  # bytes
QUERY = "SELECT * FROM TABLE"
ZIP = b"PK\x03\x04"
PICKLE = re.compile(rb"\x80[\x02-\x05]")
WEB_PAGE = re.compile(rb"\s*<(!doctype\s+html|html|head)\b", re.IGNORECASE)
PLAIN_NAME = re.compile(r"[\w./ +@-]+")  # safe inside nested quotes
PACKERS = {b"BZh": "bunzip2 -k", b"\xfd7zXZ\x00": "xz -dk"}
TABLES = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\x28\xb5\x2f\xfd": "Zstandard"}
SUFFIXES = {"Parquet": (".parquet", ".pq"), "Arrow": (".arrow", ".feather"), "Zstandard": (".zst",)}


def check_foreign(path: Path) -> None:
    """Refuse a file whose first bytes show that it is not a table, whatever its suffix."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return  # reported when the file is read
    message = _foreign(path, head)
    if message:
        raise TableError(f"{path} {message}")


def _foreign(path: Path, head: bytes) -> str | None:
    """Return what a file is and how to convert it; None if it may be a table."""
    if head.startswith(ZIP):
        return None if path.suffix.lower() == ".eval" else _zipped(path)
    for magic, kind in TABLES.items():
        if head.startswith(magic) and path.suffix.lower() not in SUFFIXES[kind]:
            return f"is a {kind} file, by its first bytes: rename it to {path.stem}{SUFFIXES[kind][0]}"
    for magic, packer in PACKERS.items():
        if head.startswith(magic):
            return f"is compressed: unpack it first, with: {packer} {shlex.quote(str(path))}"
    name, csv = shlex.quote(str(path)), shlex.quote(str(_beside(path, ".csv")))
    formats = (
        (head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), _excel(path)),
        (
            head.startswith(b"SQLite format 3\x00"),
            f"is an SQLite database: write its table as CSV, with: sqlite3 -header -csv {name} '{QUERY}' > {csv} "
            f"(sqlite3 {name} .tables lists the tables)",
        ),
        (
            head[8:12] == b"DUCK",
            f"is a DuckDB database: write its table as Parquet, with: duckdb {name} \"COPY t TO 'responses.parquet'\"",
        ),
        (PICKLE.match(head) or path.suffix.lower() in (".pkl", ".pickle"), _pickle(path)),
        (head.startswith(b"\x93NUMPY"), _numpy(path)),
        (
            head.startswith(b"version https://git-lfs"),
            "is a Git LFS pointer, not the file itself: fetch it, with: git lfs pull --include "
            f"{shlex.quote(path.name)}",
        ),
        (
            WEB_PAGE.match(head),
            f"is a web page, not a table: open {path.name} in a browser to see why the download failed, then repeat it",
        ),
    )
    return next((message for matches, message in formats if matches), None)


def _zipped(path: Path) -> str:
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        names = []
    if any(name.startswith("xl/") for name in names) or path.suffix.lower() in (".xlsx", ".xlsm"):
        return _excel(path)
    if names and all(name.endswith(".npy") for name in names):
        return _numpy(path)
    return f"is a zip archive: unpack it first, with: unzip {shlex.quote(str(path))}"


def _excel(path: Path) -> str:
    run = _python(path, "pandas.read_excel({0}).to_csv({1}, index=False)", ".csv")
    return f"is an Excel workbook: save it as 'CSV UTF-8' in Excel, or run (with pandas and openpyxl): {run}"


def _pickle(path: Path) -> str:
    call = "pandas.DataFrame(pandas.read_pickle({0})).to_json({1}, orient='records', lines=True)"
    convert = _python(path, call, ".jsonl")
    return f"is a pickle, which can run code when it is opened: if you trust it, convert it, with: {convert}"


def _numpy(path: Path) -> str:
    return (
        f"contains numpy arrays without column names: write {path.stem}.csv with the columns question, answer and score"
    )


def _beside(path: Path, suffix: str) -> Path:
    """Return a path for the converted file that differs from the file itself."""
    target = path.with_suffix(suffix)
    return path.with_name(f"{path.stem}_converted{suffix}") if target == path else target


def _python(path: Path, call: str, suffix: str) -> str:
    """Return a command that converts a file with pandas, with FILE in place of a name that needs escaping."""
    plain = PLAIN_NAME.fullmatch(str(path))
    source, target = (str(path), str(_beside(path, suffix))) if plain else ("FILE", f"responses{suffix}")
    return f'python -c "import pandas; {call.format(repr(source), repr(target))}"'
