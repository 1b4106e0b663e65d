"""How many samples of each upstream a plan draws for one question."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from steelyard.foundation.errors import PlanError, SteelyardWarning
from steelyard.sampling.ask.ask import rule_applies
from steelyard.voting.methods.base.method import Method

SAMPLES = 8  # of every upstream, by default


def samples_to_draw(voter: Method | None, names: Sequence[str], n: int | None = None) -> dict[str, int]:
    """Return the samples to draw of each upstream: n of each or, without n, as many as the plan says.

    Upstreams that the plan does not ask are left out. `names` is empty for one upstream without a name.
    """
    upstreams = tuple(names) or ("",)
    cascade = voter.cascade_ if voter else None
    if cascade:
        return {name: cascade.samples_of(name) for name in cascade.sources if name in upstreams}  # in its order
    counts = voter.samples_ if voter else None
    if counts and "" not in counts:
        return _of_sources(counts, upstreams, n)
    if n is None and voter and not counts and voter.stopping_ and rule_applies(voter):
        counts = {"": voter.stopping_.cap}
    if n is None and counts:
        return planned_counts(counts, upstreams)
    return dict.fromkeys(upstreams, SAMPLES if n is None else n)


def planned_counts(counts: Mapping[str, int], upstreams: Sequence[str]) -> dict[str, int]:
    """Return the samples of each upstream that a plan asks; those of a plan for one LLM are shared by all.

    >>> planned_counts({"gpt": 4}, ["gpt", "phi"]), planned_counts({"": 5}, ["gpt", "phi"])
    ({'gpt': 4}, {'gpt': 3, 'phi': 3})
    """
    if "" in counts:
        return dict.fromkeys(upstreams, -(-counts[""] // len(upstreams)))
    return {name: counts[name] for name in upstreams if name in counts}


def _of_sources(counts: Mapping[str, int], upstreams: Sequence[str], n: int | None) -> dict[str, int]:
    """Return the samples of a plan that buys some of each source; every one of them must have an upstream."""
    if missing := [name for name in counts if name not in upstreams]:
        raise PlanError(
            f"the plan draws samples of {', '.join(counts)}, and no upstream is named {', '.join(missing)}: name the "
            f"upstreams as it does, --upstream {missing[0]}=URL,.."
        )
    if skipped := [name for name in upstreams if name not in counts]:
        _warn(f"the plan draws no samples of {', '.join(skipped)}, so they are not asked")
    if n is None:
        return planned_counts(counts, upstreams)
    if set(counts.values()) != {n}:
        each = ", ".join(f"{name} {count}" for name, count in counts.items())
        _warn(f"the plan was made for other numbers of samples ({each}) than -n {n}: leave -n out to follow it")
    return {name: n for name in upstreams if name in counts}


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=4)
