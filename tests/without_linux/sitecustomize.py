"""Imported by Python at startup if this folder is on PYTHONPATH: removes what Linux has and macOS lacks.

Calls, constants and files that are missing on macOS are missing here, `fork` fails (it is unsafe there), memory cannot
be limited, and F_FULLFSYNC exists; each use of it adds a line to the file named by $FULL_SYNCS.
"""

from __future__ import annotations

import builtins
import fcntl
import importlib
import multiprocessing
import os
import re
import resource
import select
import selectors
import signal
import socket
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

MISSING = {
    os: "fdatasync|sched_.*|SCHED_.*|posix_fadvise|POSIX_FADV_.*|posix_fallocate|copy_file_range|splice|"
    "memfd_create|MFD_.*|pipe2|eventfd.*|EFD_.*|timerfd.*|TFD_.*|pidfd_open|P_PIDFD|.*xattr|XATTR_.*|getrandom|GRND_.*|getres[ug]id|"
    "setres[ug]id|setns|unshare|CLONE_.*|O_(TMPFILE|DIRECT|PATH|NOATIME|LARGEFILE|RSYNC)|RWF_.*|process_cpu_count",
    fcntl: "F_OFD_.*|F_SETPIPE_SZ|F_GETPIPE_SZ|F_(SET|GET)(LEASE|SIG)|F_(ADD|GET)_SEALS|F_SEAL_.*|DN_.*|"
    "LOCK_(MAND|READ|RW|WRITE)",
    signal: "SIGRTMIN|SIGRTMAX|SIGPOLL|SIGPWR|SIGSTKFLT|SIGCLD|sigtimedwait|sigwaitinfo|pidfd_send_signal",
    socket: "AF_(NETLINK|PACKET|VSOCK|ALG|CAN|TIPC|QIPCRTR|RDS)|SOCK_(CLOEXEC|NONBLOCK)|SO_(MARK|BINDTODEVICE|PRIORITY|"
    "DOMAIN|PROTOCOL|PEERSEC|PASSSEC|INCOMING_CPU)|TCP_(QUICKACK|USER_TIMEOUT|DEFER_ACCEPT|CORK|LINGER2|SYNCNT|INFO|"
    "WINDOW_CLAMP|CONGESTION)|SCM_CREDENTIALS",
    resource: "prlimit|RUSAGE_THREAD|RLIMIT_(MSGQUEUE|NICE|RTPRIO|RTTIME|SIGPENDING|OFILE)",
    select: "epoll|EPOLL.*",
    time: "CLOCK_(BOOTTIME|TAI)|pthread_getcpuclockid",
}  # fmt: skip
ABSENT = re.compile(r"/(proc|sys|dev/shm|dev/full)(/|$)")
F_FULLFSYNC = 51


def remove(module: ModuleType, pattern: str) -> None:
    """Delete the names of a module that match."""
    for name in [name for name in dir(module) if re.fullmatch(pattern, name)]:
        delattr(module, name)


def absent(path: object) -> bool:
    """Whether a path is one that only Linux has."""
    return isinstance(path, str | bytes | os.PathLike) and bool(ABSENT.match(os.fsdecode(path)))


def refuse_linux_files(event: str, arguments: tuple[Any, ...]) -> None:
    """Let nothing in Python open or list such a path."""
    if event in ("open", "os.listdir", "os.scandir") and absent(arguments[0]):
        raise FileNotFoundError(2, "macOS has no such file", os.fsdecode(arguments[0]))


def guarded(call: Any) -> Any:
    """A call of `os` about a path, which does not know the paths that only Linux has."""

    def checked(path: Any, *args: Any, **options: Any) -> Any:
        if absent(path):
            raise FileNotFoundError(2, "macOS has no such file", os.fsdecode(path))
        return call(path, *args, **options)

    return checked


def no_fork(*_: object) -> int:
    """Fail: threads of Apple's libraries do not survive a fork."""
    raise OSError("fork is unsafe on macOS")


def limited(which: int, limits: tuple[int, int], set_limit: Any = resource.setrlimit) -> None:
    """Refuse a limit of memory with the words of macOS."""
    if which == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    set_limit(which, limits)


def full_sync(handle: int, command: int, argument: Any = 0, call: Any = fcntl.fcntl) -> Any:
    """Add F_FULLFSYNC to fcntl."""
    if command != F_FULLFSYNC:
        return call(handle, command, argument)
    os.fsync(handle)
    if "FULL_SYNCS" in os.environ:
        with Path(os.environ["FULL_SYNCS"]).open("a") as counted:
            counted.write("\n")
    return 0


for module, pattern in MISSING.items():
    remove(module, pattern)
importlib.reload(selectors)  # it has found epoll
multiprocessing.set_start_method("spawn")
for name, value in (
    ("stat", guarded(os.stat)),
    ("lstat", guarded(os.lstat)),
    ("access", guarded(os.access)),
    ("fork", no_fork),
):
    setattr(os, name, value)
resource.setrlimit = limited
fcntl.F_FULLFSYNC = F_FULLFSYNC  # type: ignore[attr-defined]
fcntl.fcntl = full_sync  # type: ignore[assignment]
sys.addaudithook(refuse_linux_files)
builtins.WITHOUT_LINUX = True  # type: ignore[attr-defined]
