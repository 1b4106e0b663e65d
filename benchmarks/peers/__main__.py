"""Steelyard beside other packages that vote: `python -m benchmarks.peers [--only NAME,..] [--cache FOLDER]`.

Every package is installed with pip in an environment of its own under the cache, never in that of the project. One that
cannot be installed or fails is reported with the reason. The figures go to docs/peers.json, where they replace those of
the same peers, and to docs/alternatives.md. The exit code is 1 if a rule that is the same gives other verdicts, ties
apart.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import steelyard as sy
from benchmarks.peers.catalogue import GRID, PEERS
from benchmarks.peers.environments import default_cache, python_of
from benchmarks.peers.measurement import AFFORDABLE, TIMES, Row, Workbench
from benchmarks.peers.page import STORED, stored, unexplained, write
from benchmarks.peers.responses import response_sets


def store(rows: list[Row], questions: int) -> None:
    """Replace the rows of these peers in the file, and show all on the page."""
    measured = {row["peer"] for row in rows}
    old = [row for row in stored()["rows"] if row["peer"] not in measured] if STORED.exists() else []
    order = [peer.name for peer in PEERS]
    results = {
        "date": datetime.now(UTC).date().isoformat(),
        "where": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "steelyard": sy.__version__,
        "questions": questions,
        "times": TIMES,
        "affordable": AFFORDABLE,
        "rows": sorted([*old, *rows], key=lambda row: order.index(row["peer"])),
    }
    STORED.write_text(json.dumps(results, indent=1) + "\n")
    write()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", default="", help="names of peers, separated by commas")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="folder of the environments")
    options = parser.parse_args()
    names = set(options.only.split(",")) - {""}
    if unknown := names - {peer.name for peer in PEERS}:
        parser.error(f"no peer {', '.join(sorted(unknown))}: choose from {', '.join(peer.name for peer in PEERS)}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Path(folder), response_sets())
        for peer in (peer for peer in PEERS if not names or peer.name in names):
            for row in bench.rows(peer, partial(python_of, cache=options.cache)):
                print(json.dumps(row), flush=True)
                rows.append(row)
    store(rows, len(bench.sets[GRID].questions))
    problems = unexplained(rows)
    for problem in problems:
        print(f"MISS {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
