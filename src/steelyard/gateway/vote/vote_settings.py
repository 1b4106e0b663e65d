"""What a client may say about the vote, in the object `steelyard` of its request, capped by the operator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.allowance import Allowance
from steelyard.gateway.messages.api_errors import invalid
from steelyard.gateway.messages.chat_request import MOST_TOKENS, OURS, ChatRequest, number, whole_number
from steelyard.gateway.messages.json_pointers import check_pointer
from steelyard.voting.methods import method_class, method_names

MOST_POINTERS = 16
LEAST_DEADLINE = 0.05  # seconds
WITHIN = f"{OURS}."
KNOWN = ("n", "method", "risk", "deadline_s", "max_total_tokens", "ballots", "vote_on", "progress", "usage")
BILLED, SELECTED = "billed", "selected"


@dataclass(frozen=True)
class VoteSettings:
    """How one request is voted on."""

    n: int  # of every upstream
    by_plan: bool = False  # whether the plan may say how many samples to draw: the client does not
    method: str | None = None  # in the place of the plan
    risk: float | None = None
    deadline_s: float = 600.0
    max_total_tokens: int | None = None
    max_tokens: int | None = None  # per sample, by all limits together
    allowance: Allowance | None = None  # what these limits leave for other tries
    ballots: bool = False  # whether the reply tells what became of every sample
    vote_on: tuple[str, ...] = ()
    progress: bool = False  # whether the stream tells every sample as it comes
    usage: str = BILLED  # of all samples and scores, or of what goes back alone
    apart: bool = False  # whether every sample is asked for by itself, as the page does to see it come


def read_vote_settings(asked: ChatRequest, n: int, caps: Caps, sources: int = 1) -> VoteSettings:
    """Read what the client says; `n` samples of each of the sources where it does not say how many."""
    given = asked.members.values.get(OURS)
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise invalid(OURS, f"{OURS} must be an object")
    for name in given:
        if name not in KNOWN:
            raise invalid(f"{WITHIN}{name:.60}", f"no setting {name!r:.60}: {did_you_mean(name, KNOWN)}")
    most = max(1, caps.samples // sources)
    wanted = whole_number(given, "n", 1, most, within=WITHIN)
    return VoteSettings(
        n=min(n, most) if wanted is None else wanted,
        by_plan=wanted is None,
        method=_method(given.get("method")),
        risk=number(given, "risk", 1e-6, 1 - 1e-6, within=WITHIN),
        deadline_s=number(given, "deadline_s", LEAST_DEADLINE, caps.deadline, within=WITHIN) or caps.deadline,
        max_total_tokens=whole_number(given, "max_total_tokens", 1, caps.tokens or MOST_TOKENS, within=WITHIN),
        ballots=_flag(given, "ballots"),
        vote_on=_pointers(given.get("vote_on")),
        progress=_flag(given, "progress"),
        usage=_usage(given.get("usage", BILLED)),
    )


def _flag(given: dict[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise invalid(WITHIN + name, f"{name} must be true or false")
    return value


def _usage(which: Any) -> str:
    if which not in (BILLED, SELECTED):
        raise invalid(f"{WITHIN}usage", f"usage must be {BILLED!r} (all that was billed) or {SELECTED!r}")
    return str(which)


def _method(name: Any) -> str | None:
    """A method that needs no plan."""
    if name is None:
        return None
    if name not in unfitted_methods():
        known = did_you_mean(str(name), unfitted_methods())
        raise invalid(f"{WITHIN}method", f"no method {name!r:.60} without a plan: {known}")
    return str(name)


@cache
def unfitted_methods() -> tuple[str, ...]:
    """The methods that need no plan, for one upstream."""
    return tuple(name for name in method_names() if _needs_nothing(name))


def _needs_nothing(name: str) -> bool:
    kind = method_class(name)
    return not (kind.learns or kind.oracle or kind.weighs_sources)


def _pointers(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_POINTERS:
        raise invalid(f"{WITHIN}vote_on", f"vote_on must be a list of 1 to {MOST_POINTERS} JSON pointers")
    try:
        return tuple(check_pointer(each) for each in listed)
    except SettingError as error:
        raise invalid(f"{WITHIN}vote_on", str(error)) from None
