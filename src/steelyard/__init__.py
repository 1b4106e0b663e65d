"""Steelyard: sample an LLM many times, weigh each answer by what a verifier says, believe the vote.

    import steelyard as sy
    pool = sy.read_labelled("responses.parquet", score="prm:last")
    cal, test = pool.split(0.3, seed=0)
    vote = sy.LogitVote().fit(cal)
    print(sy.accuracy(vote.predict(test), test))

The public names are declared in `__init__.pyi`, and each is imported when it is first used, so that `import steelyard`
and `steelyard --help` are quick.
"""

import re
from importlib import import_module
from pathlib import Path

from steelyard.foundation.version import __version__ as __version__

_STUB = Path(__file__).with_suffix(".pyi").read_text()
_HOME = {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as \2$", _STUB, re.MULTILINE)}
__all__ = sorted((*_HOME, "__version__"))  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
