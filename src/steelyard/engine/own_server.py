"""The server of a worker, where several serve the verifier: one that no other worker asks, if there are enough.

A worker holds the lock of its server for as long as it lives, so whoever comes for a dead one has its server. Where
there are more workers than servers, they are spread evenly.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.files import reason
from steelyard.runs.part_folders import LOCKS
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstreams import check_upstream

_mine: dict[tuple[Path, tuple[str, ...]], tuple[str, int]] = {}  # the server of this worker, and the file of its lock


def read_servers(text: str | None, key_env: str) -> tuple[str, ...]:
    """Read `--upstream URL,URL`; say what is wrong with any of them.

    >>> read_servers("http://a:8000/v1,http://b:8000/v1", "OPENAI_API_KEY")
    ('http://a:8000/v1', 'http://b:8000/v1')
    """
    servers = () if text is None else tuple(each.strip() for each in text.split(","))
    if LOCAL in servers:
        raise SettingError("the embedded LLM is for one process: name a server with --upstream URL")
    if len(servers) < 2:
        return servers
    for each in servers:
        check_upstream(each, key_env)
    if len(set(servers)) < len(servers):
        raise SettingError("--upstream names a server twice: name each once; workers are spread over them evenly")
    return servers


def own_server(run: Path, servers: tuple[str, ...]) -> str | None:
    """The server that this worker asks, always the same one; None if there are none to ask."""
    if len(servers) < 2:
        return servers[0] if servers else None
    if (run, servers) not in _mine:
        while _mine:
            os.close(_mine.popitem()[1][1])
        _mine[run, servers] = take(run / LOCKS, servers)
    return _mine[run, servers][0]


def take(folder: Path, servers: Sequence[str]) -> tuple[str, int]:
    """Take the first server that the fewest others have; whoever closes the file lets go of it."""
    for others in count():
        for number, server in enumerate(servers):
            path = folder / f"server-{number}-{others}"
            try:
                file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            except OSError as error:
                raise RunError(f"cannot open {path}: {reason(error)}; make the folder writable") from None
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return server, file
            except BlockingIOError:
                os.close(file)
    raise AssertionError("some round finds a free one")
