"""What a request may cost at worst, held against the limits before any upstream is asked."""

from __future__ import annotations

from steelyard.gateway.api_errors import ApiError
from steelyard.gateway.caps import Caps
from steelyard.gateway.chat_request import ChatRequest
from steelyard.gateway.vote_settings import VoteSettings


def check_worst_case(asked: ChatRequest, settings: VoteSettings, caps: Caps) -> None:
    """Refuse a request whose samples may use more tokens together than the client or the operator allows."""
    if asked.max_tokens is None:
        return
    worst = asked.max_tokens * settings.n
    most = min(settings.max_total_tokens or caps.tokens, caps.tokens)
    if worst > most:
        raise ApiError(
            400, f"{settings.n} samples of up to {asked.max_tokens:,} tokens are up to {worst:,}, and {most:,} are "
            "allowed: ask for fewer samples (steelyard.n), or shorter ones (max_tokens)",
            param="max_tokens", code="over_budget",
        )  # fmt: skip
