"""Chat messages -> text. A content is a text or a list of parts; reasoning parts are left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.foundation.token_statistics import CONFIDENCE, ENTROPY, confidence_and_entropy, top_logprobs

TEXT_PARTS = ("text", "output_text", "input_text")


def text_of(content: Any) -> str | None:
    """Return the text of a message; None if it has none.

    >>> text_of("4"), text_of([{"type": "reasoning", "reasoning": "5?"}, {"type": "text", "text": "4"}]), text_of([])
    ('4', '4', None)
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [part if isinstance(part, str) else _part_text(part) for part in content]
    return "\n".join(text for text in texts if text) or None


def _part_text(part: Any) -> str | None:
    if not isinstance(part, dict) or part.get("type", "text") not in TEXT_PARTS:
        return None
    text = part.get("text")
    return text if isinstance(text, str) else None


def prompt_of(messages: Any) -> str | None:
    """Return a prompt as text: the text itself, the only message, or all messages with their roles."""
    if isinstance(messages, str):
        return messages
    if not isinstance(messages, list):
        return None
    turns = [(m.get("role"), text) for m in messages if isinstance(m, dict) and (text := text_of(m.get("content")))]
    if len(turns) == 1:
        return turns[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in turns) or None


def choices_of(body: dict[str, Any], location: str) -> list[dict[str, Any]]:
    """Return the rows of one completion: response, logprob and tokens per choice, in the order of their indices."""
    if body.get("object") == "response" or ("output" in body and "choices" not in body):
        return [_response_row(body)]
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, dict) for choice in choices):
        raise TableError(f"{location} has no choices: it is not a chat completion; remove it, or write the file again")
    indices = [choice.get("index", i) for i, choice in enumerate(choices)]
    if not all(isinstance(index, int) for index in indices) or len(set(indices)) < len(indices):
        raise TableError(f"{location} has two choices with the same index: write the file again, or remove it")
    ordered = [choice for _, choice in sorted(zip(indices, choices, strict=True), key=lambda pair: pair[0])]
    rows = [_row(choice) for choice in ordered]
    if len(rows) == 1 and rows[0]["tokens"] is None:
        rows[0]["tokens"] = _usage(body, "completion_tokens")
    return rows


def _row(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message")
    text = text_of(message.get("content")) if isinstance(message, dict) else text_of(choice.get("text"))
    values = token_logprobs(choice.get("logprobs"))
    reason = choice.get("finish_reason")
    finish = reason if isinstance(reason, str) else None
    row = {"response": text, "finish": finish, "logprob": likelihood(values), "tokens": len(values) or None}
    return row | _statistics(choice.get("logprobs"))


def _statistics(logprobs: Any) -> dict[str, list[float]]:
    """Return the statistics of the most likely tokens of a choice, if every token has two or more."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    entries = [token.get("top_logprobs") for token in content if isinstance(token, dict)] if content else []
    k = min((len(entry) if isinstance(entry, list) else 0 for entry in entries), default=0)
    top = top_logprobs(content, k) if k > 1 else None
    if top is None:
        return {}
    return dict(zip((CONFIDENCE, ENTROPY), (values.tolist() for values in confidence_and_entropy(top)), strict=True))


def token_logprobs(logprobs: Any) -> list[float]:
    """Return the log-probabilities of the tokens of a choice, of a chat completion or a completion."""
    if not isinstance(logprobs, dict):
        return []
    content = logprobs.get("content")
    values: Any = (
        [token.get("logprob") if isinstance(token, dict) else None for token in content]
        if isinstance(content, list)
        else logprobs.get("token_logprobs")
    )
    complete = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
    return [float(value) for value in values] if complete else []


def likelihood(values: Sequence[float]) -> float | None:
    """exp(mean log-probability), as in the verifier `logprob`; None if there is none, or one is not finite.

    >>> likelihood([0.0, 0.0]), likelihood([])
    (1.0, None)
    """
    mean = math.fsum(values) / len(values) if values else math.nan
    return math.exp(min(mean, 0.0)) if math.isfinite(mean) else None


def _response_row(body: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a response of the Responses API: the text of its messages, and their likelihood if recorded."""
    output = body.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    texts = [text for item in items if (text := text_of(item.get("content")))]
    contents = [item["content"] for item in items if isinstance(item.get("content"), list)]
    parts = [part for content in contents for part in content if isinstance(part, dict)]
    values = [value for part in parts for value in token_logprobs({"content": part.get("logprobs")})]
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else body.get("status")
    return {
        "response": "\n".join(texts) or None,
        "finish": reason if isinstance(reason, str) else None,
        "logprob": likelihood(values),
        "tokens": _usage(body, "output_tokens"),
    }


def _usage(body: dict[str, Any], name: str) -> int | None:
    usage = body.get("usage")
    tokens = usage.get(name) if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) else None
