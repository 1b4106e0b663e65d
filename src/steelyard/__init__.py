"""Steelyard: sample an LLM many times, weigh each answer by what a verifier says, believe the vote.

    import steelyard as sy
    pool = sy.read_labelled("responses.parquet", score="prm:last")
    cal, test = pool.split(0.3, seed=0)
    vote = sy.LogitVote().fit(cal)
    print(sy.accuracy(vote.predict(test), test))

The public names are declared in `__init__.pyi`, and each is imported when it is first used, so that `import steelyard`
and `steelyard --help` are quick.
"""

from steelyard.foundation.lazy_names import attach_stub
from steelyard.foundation.version import __version__ as __version__

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
