"""The settings of one vote: the object `steelyard` of a request, within the operator's limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from steelyard.answers.similarities.similarity import FeatureSimilarity, registry
from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.request_budget import Allowance
from steelyard.gateway.messages.api_errors import invalid
from steelyard.gateway.messages.chat_request import MOST_TOKENS, OURS, ChatRequest, number, whole_number
from steelyard.gateway.vote.policies import check_pointer
from steelyard.voting.methods import method_class, method_names

MAX_POINTERS = 16
MIN_DEADLINE = 0.05  # seconds
WITHIN = f"{OURS}."
KNOWN = (
    "n", "method", "risk", "deadline_s", "max_total_tokens", "ballots", "vote_on", "similarity", "progress", "usage",
)  # fmt: skip
BILLED, SELECTED = "billed", "selected"


@dataclass(frozen=True)
class VoteSettings:
    """How one request is voted on."""

    n: int  # of every upstream
    by_plan: bool = False  # whether the plan may set the number of samples: the client does not
    method: str | None = None  # instead of the plan
    risk: float | None = None
    deadline_s: float = 600.0
    max_total_tokens: int | None = None
    max_tokens: int | None = None  # per sample, by all limits together
    allowance: Allowance | None = None  # what these limits leave for retries
    ballots: bool = False  # whether the reply lists every sample
    vote_on: tuple[str, ...] = ()
    similarity: str | None = None  # compare whole responses by it
    progress: bool = False  # whether the stream reports every sample as it arrives
    usage: str = BILLED  # of all samples and scores, or of the returned samples alone
    separately: bool = False  # whether each sample is a request of its own, so that the page can show it as it arrives


def read_vote_settings(chat_request: ChatRequest, n: int, caps: Caps, sources: int = 1) -> VoteSettings:
    """Read the client's settings; the default is `n` samples of each of the sources."""
    settings = chat_request.members.values.get(OURS)
    if settings is None:
        settings = {}
    if not isinstance(settings, dict):
        raise invalid(OURS, f"{OURS} must be an object")
    for name in settings:
        if name not in KNOWN:
            raise invalid(f"{WITHIN}{name:.60}", f"unknown setting {name!r:.60}: {did_you_mean(name, KNOWN)}")
    max_n = max(1, caps.samples // sources)
    n_requested = whole_number(settings, "n", 1, max_n, within=WITHIN)
    return VoteSettings(
        n=min(n, max_n) if n_requested is None else n_requested,
        by_plan=n_requested is None,
        method=_method(settings.get("method")),
        risk=number(settings, "risk", 1e-6, 1 - 1e-6, within=WITHIN),
        deadline_s=number(settings, "deadline_s", MIN_DEADLINE, caps.deadline, within=WITHIN) or caps.deadline,
        max_total_tokens=whole_number(settings, "max_total_tokens", 1, caps.tokens or MOST_TOKENS, within=WITHIN),
        ballots=_flag(settings, "ballots"),
        vote_on=_pointers(settings.get("vote_on")),
        similarity=_similarity(settings),
        progress=_flag(settings, "progress"),
        usage=_usage(settings.get("usage", BILLED)),
    )


def _flag(settings: dict[str, Any], name: str) -> bool:
    value = settings.get(name, False)
    if not isinstance(value, bool):
        raise invalid(WITHIN + name, f"{name} must be true or false")
    return value


def _usage(value: Any) -> str:
    if value not in (BILLED, SELECTED):
        raise invalid(f"{WITHIN}usage", f"usage must be {BILLED!r} (all that was billed) or {SELECTED!r}")
    return str(value)


def _method(name: Any) -> str | None:
    """A method that needs no plan."""
    if name is None:
        return None
    if name not in unfitted_methods():
        hint = did_you_mean(str(name), unfitted_methods())
        raise invalid(f"{WITHIN}method", f"{name!r:.60} cannot vote without a plan: {hint}")
    return str(name)


@cache
def unfitted_methods() -> tuple[str, ...]:
    """The methods that need no plan, for one upstream."""
    kinds = {name: method_class(name) for name in method_names()}
    return tuple(name for name, kind in kinds.items() if not (kind.learns or kind.oracle or kind.weighs_sources))


@cache
def request_similarities() -> tuple[str, ...]:
    """The similarities that a request may name: those that need nothing but the texts."""
    names = [name for name in registry().built_in if name != "column"]
    return tuple(name for name in names if issubclass(registry().get(name), FeatureSimilarity))


def _similarity(settings: dict[str, Any]) -> str | None:
    name = settings.get("similarity")
    if name is None:
        return None
    if name not in request_similarities():
        hint = did_you_mean(str(name), request_similarities())
        raise invalid(f"{WITHIN}similarity", f"unknown similarity {name!r:.60}: {hint}")
    if settings.get("vote_on") is not None:
        raise invalid(f"{WITHIN}similarity", "similarity compares whole responses, and vote_on parts: omit one of them")
    method = settings.get("method")
    if method is not None and not method_class(str(method)).votes_on_similar:
        raise invalid(f"{WITHIN}method", f"{method} votes only on equal answers: omit method or similarity")
    return str(name)


def _pointers(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    pointers = [value] if isinstance(value, str) else value
    if not isinstance(pointers, list) or not 0 < len(pointers) <= MAX_POINTERS:
        raise invalid(f"{WITHIN}vote_on", f"vote_on must be a list of 1 to {MAX_POINTERS} JSON pointers")
    try:
        return tuple(check_pointer(pointer) for pointer in pointers)
    except SettingError as error:
        raise invalid(f"{WITHIN}vote_on", str(error)) from None
