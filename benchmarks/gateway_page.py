"""`python -m benchmarks.gateway_page`: what the three benchmarks of the gateway stored, in docs/benchmarks.md."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.page_sections import PAGE, with_section

DOCS = PAGE.parent
LOAD, LEAVING, PEERS = (DOCS / f"gateway_{name}.json" for name in ("load", "leaving", "peers"))
TITLE = "Gateway"
OF_LOAD = """Made by `python -m benchmarks.gateway` ({where}, load {load} before). Server, upstream and clients
share the machine.
"""
OF_LEAVING = """Made by `python -m benchmarks.gateway_leaving --leaves {leaves}` ({where}, load {load}
before): clients that leave in the middle of a request, {leaves} times each, and how long after that the last of its
calls upstream is hung up on.
"""
OF_PEERS = """Made by `python -m benchmarks.gateway_peers --clients {clients} --each {each}` ({where}, load {load}
before): servers that vote on eight samples of the same upstream, which takes 200 ms, one server after the other, with
{clients} clients, in turns with the upstream itself. The machine did other things too, so that times and CPU are told
as ratios: p50 of that of one call of the upstream itself, CPU of that of Steelyard in the same run. "One of eight
fails": the upstream gives one choice per call, whatever `n` says, and refuses every eighth call; "samples" are the
choices that it gave per request then.
"""

NOTES = {
    "its_hub": "its_hub loses the request with one of its samples.",
    "optillm": "optillm asks once with `n` = 8 and votes on what comes, without saying on how many; only where that\n"
    "call is refused does it ask eight times, one after the other.",
}


def section(load: Mapping[str, Any] | None, leaving: Mapping[str, Any] | None, peers: Mapping[str, Any] | None) -> str:
    """The text of the section, of what there is."""
    parts = []
    if load:
        parts += [OF_LOAD.format(**load), _with_goals(load["rows"])]
    if leaving:
        parts += [OF_LEAVING.format(**leaving), _with_goals(leaving["rows"])]
    if peers:
        own = peers["rows"][0]["cpu_ms"]
        table = ["| server | p50 | CPU per request | memory | lost | lost where one of eight fails | samples |"]
        table += ["|---|---:|---:|---:|---:|---:|---:|"]
        table += [
            f"| {row['name']} | {row['p50']:.2f} x | {row['cpu_ms'] / own:.1f} x | {row['memory']:.0f} MB "
            f"| {row['lost']} of {row['asked']} | {row['lost_of_failing']} of {row['asked']} "
            f"| {row['samples_of_failing']:.1f} |"
            for row in peers["rows"]
        ]
        notes = [NOTES[row["name"]] for row in peers["rows"] if row["name"] in NOTES]
        parts += [OF_PEERS.format(**peers), "\n".join(table) + "\n", "\n".join(notes) + "\n"]
    return "\n".join(parts)


def _with_goals(rows: Iterable[Mapping[str, Any]]) -> str:
    table = ["| what | measured | goal | met |", "|---|---|---|---|"]
    table += [
        f"| {row['what']} | {row['figure']} | {row['goal']} | {'yes' if row['met'] else '**no**'} |" for row in rows
    ]
    return "\n".join(table) + "\n"


def store(where: Path, results: Mapping[str, Any]) -> None:
    """Keep the results of one benchmark, and put them onto the page."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    where.write_text(json.dumps({"where": machine, **results}, indent=1) + "\n")
    write()


def stored() -> list[Mapping[str, Any] | None]:
    """The results of each benchmark, None for one that was never run."""
    return [json.loads(path.read_text()) if path.exists() else None for path in (LOAD, LEAVING, PEERS)]


def write() -> None:
    """Write the section."""
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, section(*stored())))


if __name__ == "__main__":
    write()
