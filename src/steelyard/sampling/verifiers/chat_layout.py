"""A chat of many turns, laid out by a model's own template, without text ever being read as layout.

The template is run once on placeholder turns and cut at them: what stands before the first user turn, between a
user and an assistant turn, and so on. Turns are then put together from these pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.tokens import Tokens

USER, ASSISTANT = "steelyard-user-turn", "steelyard-assistant-turn"
LLAMA_3 = (
    "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] | trim }}<|eot_id|>{% endfor %}"
)


@dataclass(frozen=True)
class Piece:
    """A piece of layout: text that joins the turn before it, ids, text that joins the turn after it."""

    before: str
    ids: list[int]
    after: str


@dataclass(frozen=True)
class Chat:
    """head USER middle ASSISTANT between USER middle ASSISTANT ... tail."""

    head: Piece
    middle: Piece
    between: Piece
    tail: Piece


def learn(tokens: Tokens, fallback: str = LLAMA_3) -> Chat:
    """Learn the layout of a chat from the tokenizer's template, or from `fallback` where it has none."""
    one, two, three = (_cut(_run(tokens, fallback, turns), tokens) for turns in (1, 2, 3))
    head, middle, between, tail = *two[:3], two[-1]
    more = [between, middle]
    if [one, two, three] != [[head, middle, *more * extra, tail] for extra in range(3)]:
        raise VerifierError(f"{tokens.name}: its chat template lays out turns by their number; it cannot be used here")
    return Chat(*(_piece(text, tokens) for text in (head, middle, between, tail)))


def _run(tokens: Tokens, fallback: str, turns: int) -> str:
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    template = tokens.settings.get("chat_template") or fallback
    turn = [{"role": "user", "content": USER}, {"role": "assistant", "content": ASSISTANT}]
    try:
        made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(template)
        return made.render(messages=turn * turns, bos_token=_bos(tokens), eos_token="", add_generation_prompt=False)
    except (TemplateError, TypeError) as error:
        raise VerifierError(f"{tokens.name}: its chat template cannot be used: {error}") from None


def _bos(tokens: Tokens) -> str:
    bos: Any = tokens.settings.get("bos_token") or "<|begin_of_text|>"
    return str(bos["content"] if isinstance(bos, dict) else bos)


def _cut(text: str, tokens: Tokens) -> list[str]:
    pieces = [piece for part in text.split(USER) for piece in part.split(ASSISTANT)]
    if len(pieces) < 3:
        raise VerifierError(f"{tokens.name}: its chat template does not show the turns it is given")
    return pieces


def _piece(text: str, tokens: Tokens) -> Piece:
    parts = tokens.parts(text)
    special = [i for i, part in enumerate(parts) if isinstance(part, int)]
    if not special:
        raise VerifierError(f"{tokens.name}: its chat template has no special token around turns: {text!r}")
    first, last = special[0], special[-1]
    inside = parts[first : last + 1]
    ids = [number for part in inside for number in ([part] if isinstance(part, int) else tokens.fixed(part))]
    return Piece("".join(map(str, parts[:first])), ids, "".join(map(str, parts[last + 1 :])))
