"""`python -m steelyard`, and the `steelyard` command: quiet even when it is stopped while it starts or compiles."""

import atexit
import os
import sys
from contextlib import suppress
from signal import SIG_IGN, SIGINT, signal
from threading import Event, Timer

from steelyard.foundation.lazy_names import quick_import

AGAIN = 0.05  # seconds
LOST = Event()  # an interrupt came where it could not be raised


def main() -> None:
    """Run the command line."""
    if os.name == "nt":
        print("error: Steelyard runs on Linux and macOS: on Windows, install it in WSL", file=sys.stderr)
        sys.exit(2)
    sys.unraisablehook = _sent_again
    try:
        quick_import("steelyard.cli").main()
    except KeyboardInterrupt:
        _stopped()
    except Exception:
        if not LOST.is_set():
            raise
        _stopped()


def _sent_again(lost: "sys.UnraisableHookArgs") -> None:
    """An interrupt in a callback of the compiler is lost: the compiler may fail, or go on and be interrupted soon."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        LOST.set()
        again = Timer(AGAIN, os.kill, (os.getpid(), SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


def _stopped() -> None:
    """Say so, do what was left for the end, and end at once: libraries that end with Python may take SIGINT back."""
    with suppress(KeyboardInterrupt):  # one that came just now
        signal(SIGINT, SIG_IGN)
    signal(SIGINT, SIG_IGN)  # whatever comes while Python ends
    print("stopped", file=sys.stderr)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # full, closed, or none
            stream.flush()
    os._exit(130)


if __name__ == "__main__":
    main()
