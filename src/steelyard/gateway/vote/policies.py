"""What the samples of a request are voted on, by what kind of request it is.

- answer   the answer that is read out of a response, as `steelyard ask` reads it
- json     structured output: the whole object in canonical form, or the parts that `vote_on` points at
- tools    the calls of tools: their names and arguments in canonical form, in their order

A sample without such an answer is unreadable, and casts no vote. Where no sample has one, the request is no question:
the best-scored sample goes back, without scores the first (policy `text`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from steelyard.answers.auto_kind import kind_from_question
from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.extract import AUTO, extract_answer
from steelyard.answers.kinds.json import json_form
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.messages.json_pointers import MISSING, pointed
from steelyard.gateway.messages.samples import Sample

TEXT = "text"
NO_JSON = "text:"  # what the canonical form of a text begins with that is no JSON
NO_CALL = "no tool call"


class Policy(Protocol):
    """Reads what a sample votes for; `kind` says which of these are the same."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def answer(self, sample: Sample) -> str | None:
        """What a sample votes for; None: it is unreadable."""
        ...


@dataclass(frozen=True)
class AnswerPolicy:
    """The final answer of a response."""

    kind: str
    name: str = "answer"

    def answer(self, sample: Sample) -> str | None:
        """Read the answer as `ask` does."""
        choice = sample.choice
        return extract_answer(choice.text, self.kind, cut=is_cut(choice.finish)) if choice else None


@dataclass(frozen=True)
class JsonPolicy:
    """Structured output."""

    vote_on: tuple[str, ...]
    name: str = "json"
    kind: str = "exact"

    def answer(self, sample: Sample) -> str | None:
        """The canonical form of the object, or of its parts."""
        form = json_form(sample.choice.text) if sample.choice else NO_JSON
        if form.startswith(NO_JSON):
            return None
        if not self.vote_on:
            return replace_surrogates(form)
        value = json.loads(form)
        parts = {pointer: pointed(value, pointer) for pointer in self.vote_on}
        if any(part is MISSING for part in parts.values()):
            return None
        return replace_surrogates(json_form(json.dumps(parts, ensure_ascii=False)))


@dataclass(frozen=True)
class ToolPolicy:
    """Calls of tools."""

    name: str = "tools"
    kind: str = "exact"

    def answer(self, sample: Sample) -> str | None:
        """The calls in canonical form; a response in words votes against calling any."""
        if sample.message is None:
            return None
        calls = sample.message.get("tool_calls")
        if not calls:
            return NO_CALL if sample.choice and sample.choice.text else None
        read = [_call(call) for call in calls] if isinstance(calls, list) else [None]
        return None if None in read else json.dumps(read)


def _call(call: Any) -> list[str] | None:
    """Name and canonical arguments of a call; None where it is none."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, str):
        return None
    return [name, json_form(arguments or "{}")]


def policy_of(asked: ChatRequest, kind: str, vote_on: tuple[str, ...]) -> Policy:
    """The policy of a request; `kind` is the operator's kind of answers, `auto`: the one that the question asks for."""
    values = asked.members.values
    wanted = values.get("response_format")
    if vote_on or (isinstance(wanted, dict) and wanted.get("type") in ("json_schema", "json_object")):
        return JsonPolicy(vote_on)
    if values.get("tools") and values.get("tool_choice") != "none":
        return ToolPolicy()
    return AnswerPolicy(kind_from_question(asked.question) if kind == AUTO else kind)
