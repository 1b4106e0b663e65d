"""Chat completions saved as one object, a list or JSON lines, with or without the request."""

from __future__ import annotations

from typing import Any

from steelyard.tables.recognition import Converted, Layout, Opened
from steelyard.tables.saved_replies import read_replies, recognises_replies

FIX = "save the request too ({'request': ..., 'response': ...}), or send requests with n above 1"


class ChatCompletions(Layout):
    """Each choice is a sample; the question is the request if it was saved, else the position in the file."""

    name = "chat-completions"
    title = "chat completions"
    description = (
        "Saved chat completions with n choices: choices, logprobs as the score logprob, the request as the question"
    )

    def recognises(self, opened: Opened) -> bool:
        return recognises_replies(opened, _is_completion)

    def read(self, opened: Opened) -> Converted:
        return read_replies(opened, _is_completion, "completion", FIX)


def _is_completion(body: Any) -> bool:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and bool({"message", "text"} & first.keys())
