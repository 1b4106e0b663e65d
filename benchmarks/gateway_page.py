"""`python -m benchmarks.gateway_page`: what the two benchmarks of the gateway stored, in docs/benchmarks.md."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.page_sections import PAGE, with_section

DOCS = PAGE.parent
LOAD, PEERS = DOCS / "gateway_load.json", DOCS / "gateway_peers.json"
TITLE = "Gateway"
OF_LOAD = """Made by `python -m benchmarks.gateway` ({where}, load {load} before). Server, upstream and clients
share the machine.
"""
OF_PEERS = """Made by `python -m benchmarks.gateway_peers --clients {clients} --each {each}` ({where}, load {load}
before): servers that vote on eight samples of the same upstream, which takes 200 ms, one server after the other, with
{clients} clients, in turns with the upstream itself. The machine did other things too, so that times and CPU are told
as ratios: p50 of that of one call of the upstream itself, CPU of that of Steelyard in the same run. "One of eight
fails": the upstream refuses every eighth request.
"""


def section(load: Mapping[str, Any] | None, peers: Mapping[str, Any] | None) -> str:
    """The text of the section, of what there is."""
    parts = []
    if load:
        table = ["| what | measured | goal | met |", "|---|---|---|---|"]
        table += [
            f"| {row['what']} | {row['figure']} | {row['goal']} | {'yes' if row['met'] else '**no**'} |"
            for row in load["rows"]
        ]
        parts += [OF_LOAD.format(**load), "\n".join(table) + "\n"]
    if peers:
        own = peers["rows"][0]["cpu_ms"]
        table = ["| server | p50 | CPU per request | memory | lost | lost where one of eight fails |"]
        table += ["|---|---:|---:|---:|---:|---:|"]
        table += [
            f"| {row['name']} | {row['p50']:.2f} x | {row['cpu_ms'] / own:.1f} x | {row['memory']:.0f} MB "
            f"| {row['lost']} of {row['asked']} | {row['lost_of_failing']} of {row['asked']} |"
            for row in peers["rows"]
        ]
        parts += [OF_PEERS.format(**peers), "\n".join(table) + "\n"]
    return "\n".join(parts)


def store(where: Path, results: Mapping[str, Any]) -> None:
    """Keep the results of one benchmark, and put them onto the page."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    where.write_text(json.dumps({"where": machine, **results}, indent=1) + "\n")
    write()


def write() -> None:
    """Write the section."""
    stored = [json.loads(path.read_text()) if path.exists() else None for path in (LOAD, PEERS)]
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, section(*stored)))


if __name__ == "__main__":
    write()
