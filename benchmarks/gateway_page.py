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
before): clients that disconnect in the middle of a request, {leaves} times each, and the time until the last of its
upstream calls is closed.
"""
OF_PEERS = """Made by `python -m benchmarks.gateway_peers --clients {clients} --each {each}` ({where}, load {load}
before): servers that vote on eight samples of the same upstream, which takes 200 ms. They are measured one after the
other with {clients} clients, alternating with the upstream itself. The machine was not idle, so times and CPU are
ratios: p50 relative to one call of the upstream itself, CPU relative to Steelyard in the same run. "One of eight
fails": the upstream returns one choice per call, regardless of `n`, and refuses every eighth call; "samples" is then
the number of choices it returned per request.
"""

NOTES = {
    "its_hub": "its_hub loses the request if one of its samples fails.",
    "optillm": "optillm sends one call with `n` = 8 and votes on the choices returned, without reporting how many.\n"
    "Only if that call is refused does it send eight calls, one after the other.",
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
