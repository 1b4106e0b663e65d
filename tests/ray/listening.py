"""Where the processes of this program listen."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

from tests.ray.cluster import descendants

LISTENS = "0A"


def addresses() -> list[str]:
    """The addresses on which this process and those that it has started listen for TCP."""
    sockets = set()
    for process in [os.getpid(), *descendants(os.getpid())]:
        for handle in Path(f"/proc/{process}/fd").glob("*"):
            try:
                sockets.add(os.readlink(handle).removeprefix("socket:[").removesuffix("]"))
            except OSError:
                continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS and words[9] in sockets:
                found.add(_address(words[1].partition(":")[0]))
    return sorted(found)


def _address(packed: str) -> str:
    if len(packed) == 8:
        return socket.inet_ntoa(struct.pack("<L", int(packed, 16)))
    parts = struct.pack("<4L", *(int(packed[i : i + 8], 16) for i in range(0, 32, 8)))
    return socket.inet_ntop(socket.AF_INET6, parts).removeprefix("::ffff:")
