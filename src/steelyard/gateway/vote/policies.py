"""What the samples of a request are voted on, by the kind of request.

- answer   the answer that is read out of a response, as `steelyard ask` reads it
- json     structured output: the whole object in canonical form, or the parts that the JSON pointers (RFC 6901) of
           `vote_on` point at
- tools    tool calls: their names and arguments in canonical form, in their order
- similar  free text: the whole response without its thoughts; similar responses vote for each other

A sample without such an answer is unreadable, and casts no vote. If no sample has an `answer`, the request is not a
question, and the vote is on free text. If that does not work either, the sample with the highest score is returned,
without scores the first (policy `text`).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.answers.auto_kind import kind_from_question
from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.extract import AUTO, FREE, extract_answer, kind_of
from steelyard.answers.kinds.json import json_form
from steelyard.answers.similarities.similarity import DEFAULT
from steelyard.foundation.errors import SettingError
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.upstream.samples import Sample
from steelyard.sampling.online.similar_texts import SimilarTexts

TEXT, SIMILAR = "text", "similar"
FREE_TEXT = "free"  # the kind that compares words
COMPARED = 20_000  # characters of a response
READ_AT_ONCE = 100_000  # characters of responses that are read before other requests have their turn
NO_JSON = "text:"  # prefix of the canonical form of a text that is not JSON
NO_CALL = "no tool call"
LONGEST = 500
MISSING = object()
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class AnswerPolicy:
    """The final answer of a response. Every policy has a kind, which says how its answers are compared."""

    kind: str
    name: str = "answer"
    texts: SimilarTexts | None = field(default=None, compare=False)
    _answers: dict[tuple[str, bool], str | None] = field(default_factory=dict, init=False, compare=False, repr=False)

    def answer(self, sample: Sample) -> str | None:
        """Read the answer as `ask` does, once; None if it is unreadable."""
        if sample.choice is None:
            return None
        response = text, cut = sample.choice.text, is_cut(sample.choice.finish)
        if response not in self._answers:
            self._answers[response] = extract_answer(text, self.kind, cut=cut)
        return self._answers[response]


@dataclass(frozen=True)
class JsonPolicy:
    """Structured output."""

    vote_on: tuple[str, ...]
    name: str = "json"
    kind: str = "exact"
    texts: None = None

    def answer(self, sample: Sample) -> str | None:
        """The canonical form of the object, or of its parts."""
        form = json_form(sample.choice.text) if sample.choice else NO_JSON
        if form.startswith(NO_JSON):
            return None
        if not self.vote_on:
            return replace_surrogates(form)
        value = json.loads(form)
        parts = {pointer: resolve_pointer(value, pointer) for pointer in self.vote_on}
        if any(part is MISSING for part in parts.values()):
            return None
        return replace_surrogates(json_form(json.dumps(parts, ensure_ascii=False)))


@dataclass(frozen=True)
class ToolPolicy:
    """Tool calls."""

    name: str = "tools"
    kind: str = "exact"
    texts: None = None

    def answer(self, sample: Sample) -> str | None:
        """The calls in canonical form; a response in text votes for no call."""
        if sample.message is None:
            return None
        calls = sample.message.get("tool_calls")
        if not calls:
            return NO_CALL if sample.choice and sample.choice.text else None
        read = [_call(call) for call in calls] if isinstance(calls, list) else [None]
        return None if None in read else json.dumps(read)


Policy = AnswerPolicy | JsonPolicy | ToolPolicy


async def read_answers(policy: Policy, samples: Sequence[Sample]) -> None:
    """Read the answers of all samples; other requests have their turn whenever many characters were read."""
    if not isinstance(policy, AnswerPolicy):
        return
    characters = READ_AT_ONCE  # the reply that contains the samples was parsed just before
    for choice, sample in ((sample.choice, sample) for sample in samples if sample.choice):
        characters += len(choice.text)
        if characters > READ_AT_ONCE:
            await asyncio.sleep(0)
            characters = len(choice.text)
        policy.answer(sample)


def _call(call: Any) -> list[str] | None:
    """Name and canonical arguments of a call; None if it is invalid."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, str):
        return None
    return [name, json_form(arguments or "{}")]


def similar_policy(chat_request: ChatRequest, kind: str = FREE_TEXT) -> AnswerPolicy:
    """The policy that compares whole responses; `kind` is one of free text."""
    return AnswerPolicy(kind, SIMILAR, SimilarTexts(kind_of(kind), chat_request.question, COMPARED))


def free_kind_of(similarity: str) -> str:
    """The kind of free text with this similarity."""
    return FREE_TEXT if similarity == DEFAULT else FREE + similarity


def policy_of(chat_request: ChatRequest, kind: str, vote_on: tuple[str, ...], similarity: str | None = None) -> Policy:
    """The policy of a request; `kind` is the operator's kind of answers, `auto` depends on the question."""
    values = chat_request.members.values
    if similarity is not None:
        return similar_policy(chat_request, free_kind_of(similarity))
    response_format = values.get("response_format")
    if vote_on or (isinstance(response_format, dict) and response_format.get("type") in ("json_schema", "json_object")):
        return JsonPolicy(vote_on)
    if values.get("tools") and values.get("tool_choice") != "none":
        return ToolPolicy()
    if kind != AUTO and kind_of(kind).similarity is not None:
        return similar_policy(chat_request, kind)
    return AnswerPolicy(kind_from_question(chat_request.question) if kind == AUTO else kind)


def check_pointer(pointer: Any) -> str:
    """Return a JSON pointer; a SettingError if it is not one.

    >>> check_pointer("/answer/0")
    '/answer/0'
    """
    if not isinstance(pointer, str) or len(pointer) > LONGEST or (pointer and not pointer.startswith("/")):
        raise SettingError(f"{pointer!r:.60} is not a JSON pointer: write it as /answer or /items/0/name")
    return pointer


def resolve_pointer(value: Any, pointer: str) -> Any:
    """The value that a pointer points at; MISSING if there is none.

    >>> resolve_pointer({"a": [5, {"b/c": 7}]}, "/a/1/b~1c"), resolve_pointer([1], "/3") is MISSING
    (7, True)
    """
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value
