"""What a request may cost at worst, held against the limits before any upstream is asked."""

from __future__ import annotations

from steelyard.gateway.api_errors import ApiError
from steelyard.gateway.caps import Caps
from steelyard.gateway.chat_request import ChatRequest
from steelyard.gateway.vote_settings import VoteSettings


def check_worst_case(asked: ChatRequest, settings: VoteSettings, caps: Caps) -> None:
    """Refuse a request whose samples may use more tokens together than the client or the operator allows."""
    check_tokens(asked, settings.n, "steelyard.n", min(settings.max_total_tokens or caps.tokens, caps.tokens))


def check_tokens(asked: ChatRequest, samples: int, name: str, most: int) -> None:
    """Refuse a request for so many samples, a number that the field `name` sets, if they may be more than `most`."""
    worst = (asked.max_tokens or 0) * samples
    if worst > most:
        raise ApiError(
            400, f"{samples} samples of up to {asked.max_tokens:,} tokens are up to {worst:,}, and {most:,} are "
            f"allowed: ask for fewer samples ({name}), or shorter ones (max_tokens)",
            param="max_tokens", code="over_budget",
        )  # fmt: skip
