"""Every fault by its name: those of the wire, and replies with one thing wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from tests.fault_upstream.asked import UNICODE, Asked, good, knowing
from tests.fault_upstream.hostile import HOSTILE_ANSWERS
from tests.fault_upstream.wire import (
    bad_chunk,
    chunk_cut,
    crowd,
    cut,
    deep,
    echo,
    echo_elsewhere,
    echo_error,
    echo_escaped,
    endless,
    greedy,
    held,
    huge,
    keys,
    lines,
    long_text,
    longest,
    many,
    newer,
    no_http,
    non,
    picky,
    quota,
    reset,
    same,
    shuffled,
    silent,
    slots,
    slow,
    tardy,
    trailing,
    window,
    zipped,
)


def changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[Asked], Awaitable[None]]:
    """A good reply with one thing wrong."""

    async def answer(asked: Asked) -> None:
        body = good(asked)
        other = change(body)
        await asked.reply(json.dumps(body if other is None else other).encode())

    return answer


def raw(body: bytes, headers: str = "") -> Callable[[Asked], Awaitable[None]]:
    async def answer(asked: Asked) -> None:
        await asked.reply(body, 200, headers)

    return answer


def set_first(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        body["choices"][0][name] = value

    return change


def set_top(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body.update({name: value})


async def knows(asked: Asked) -> None:
    """A model that is correct in so many per cent of its samples."""
    body = good(asked)
    for j, made in enumerate(body["choices"]):
        made["message"]["content"] = knowing(asked, j)
    await asked.reply(json.dumps(body).encode())


async def alias(asked: Asked) -> None:
    """As llama.cpp: n_cmpl is n."""
    await asked.reply(json.dumps(good(asked, int(asked.body.get("n_cmpl", asked.n)))).encode())


OPINIONS = (  # three of four are similar
    "Ada Lovelace, people say, invented it.",
    "Grace Hopper invented the compiler.",
    "It was Grace Hopper who invented the first compiler.",
    "The compiler? Grace Hopper did that.",
)
LONG = [f"word{number:x}ly" for number in range(0xA000, 0xAA00)]


def by_seed(make: Callable[[int], dict[str, Any]]) -> Callable[[Asked], Awaitable[None]]:
    """Messages that depend on the seed alone."""

    async def answer(asked: Asked) -> None:
        body = good(asked)
        for j, made in enumerate(body["choices"]):
            made["message"] = {"role": "assistant", **make(int(asked.body.get("seed") or 0) + j)}
        await asked.reply(json.dumps(body).encode())

    return answer


def structured(seed: int) -> dict[str, Any]:
    """Three of four samples say 7, in different words and spellings; the last object is cut."""
    fields = {"why": f"reason {seed}", "answer": 7 if seed % 4 else 9}
    text = json.dumps(dict(reversed(fields.items())) if seed % 2 else fields, indent=seed % 3 or None)
    return {"content": text[:-5] if seed == 11 else text}


def calling(seed: int) -> dict[str, Any]:
    """Three of four samples call the same tool with the same arguments, spelled in two ways."""
    arguments = '{"city":"Rome","days":3}' if seed % 2 else '{"days": 3.0, "city": "Rome"}'
    function = {"name": "weather", "arguments": arguments if seed % 4 else '{"city": "Oslo", "days": 3}'}
    return {"content": None, "tool_calls": [{"id": f"call_{seed}", "type": "function", "function": function}]}


def rich(body: dict[str, Any]) -> None:
    """A reply with what not every server sends."""
    body |= {"system_fingerprint": "fp_rich", "service_tier": "default", "x_unknown": {"kept": [1, None]}}
    body["usage"] |= {"prompt_tokens_details": {"cached_tokens": 0}}
    for made in body["choices"]:
        made |= {"x_choice": "kept"}
        made["message"] |= {"refusal": None, "reasoning_content": "I think.", "annotations": []}


def long_logprobs(body: dict[str, Any]) -> None:
    """Log-probabilities with the bytes of their tokens, as OpenAI sends them, in a reply of more than 256 KB."""
    for made in body["choices"]:
        entry = {"token": "token", "logprob": -0.25, "bytes": [116, 111, 107, 101, 110], "top_logprobs": []}
        made["logprobs"] = {"content": [entry] * 4000}


async def replay(asked: Asked) -> None:
    """The same response again and again, under the same id; to seed 0 so many seconds later."""
    if not asked.body.get("seed"):
        await asyncio.sleep(float(asked.fault.argument or 0))
    body = good(asked)
    body["id"] = "chatcmpl-replay"
    for made in body["choices"]:
        made["message"]["content"] = "Again \\boxed{3}"
    await asked.reply(json.dumps(body).encode())


def odd_numbers(body: dict[str, Any]) -> None:
    body["choices"][0]["logprobs"] = {"content": [{"logprob": float("nan")}, {"logprob": float("-inf")}]}
    body["usage"] = {"completion_tokens": float("inf")}


def say(text: Any) -> Callable[[dict[str, Any]], None]:
    return set_first("message", {"role": "assistant", "content": text})


def cut_off(body: dict[str, Any]) -> None:
    """End the first choice at its length limit, before it marks an answer."""
    say("Let me think about 3 and")(body)
    set_first("finish_reason", "length")(body)


ANSWERS: dict[str, Callable[[Asked], Awaitable[None]]] = {
    "knows": knows,
    "rich": changed(rich),
    "alias": alias,
    "long-logprobs": changed(long_logprobs),
    "same-id": changed(set_top("id", "chatcmpl-always")),
    "replay": replay,
    "unicode": changed(set_first("message", {"role": "assistant", "content": UNICODE})),
    "structured": by_seed(structured),
    "calling": by_seed(calling),
    "prose": by_seed(lambda seed: {"content": f"A rose is a rose, and {'so ' * (seed % 5)}on it goes."}),
    "opinions": by_seed(lambda seed: {"content": OPINIONS[seed % len(OPINIONS)]}),
    "long-opinions": by_seed(lambda seed: {"content": " ".join([*LONG[seed % 7 :], OPINIONS[seed % len(OPINIONS)]])}),
    "declines": by_seed(lambda seed: {"content": f"I don't know{'.' * (seed % 3)}"}),
    "algebra": by_seed(lambda seed: {"content": f"\\boxed{{{'(x+1)^2' if seed % 2 else 'x^2+2x+1'}}}"}),
    "integrals": by_seed(lambda seed: {"content": rf"\boxed{{\int_0^1 f_{{{seed % 2}}}(x)\,dx}}"}),
    "cut": cut,
    "chunk-cut": chunk_cut,
    "bad-chunk": bad_chunk,
    "no-http": no_http,
    "trailing": trailing,
    "reset": reset,
    "silent": silent,
    "held": held,
    "slow": slow,
    "shuffled": shuffled,
    "none": changed(lambda body: None),
    "tardy": tardy,
    "huge": huge,
    "endless": endless,
    "zipped": zipped,
    "crowd": crowd,
    "many": many,
    "keys": keys,
    "lines": lines,
    "long-text": long_text,
    "quota": quota,
    "echo-escaped": echo_escaped,
    "echo-error": echo_error,
    "long-name": changed(set_top("model", "m" * 10**6)),
    "deep": deep,
    "slots": slots,
    "no-n": non,
    "picky": picky,
    "newer": newer,
    "greedy": greedy,
    "window": window,
    "longest": longest,
    "same": same,
    "echo": echo,
    "echo-elsewhere": echo_elsewhere,
    "redirect": lambda asked: asked.reply(b"", 302, "Location: http://127.0.0.1:1/v1/chat/completions\r\n"),
    "digits": raw(b'{"choices": ' + b"9" * 10**6 + b"}"),
    "garbage": raw(b"\xff\xfe\x00{choices"),
    "html": raw(b"<html><body>gateway says hello</body></html>"),
    "empty": raw(b""),
    "null": raw(b"null"),
    "list": raw(b"[]"),
    "string": raw(b'"choices"'),
    "error": raw(b'{"error": {"message": "the model is loading", "code": 503}}'),
    "error-string": raw(b'{"error": "the model is loading"}'),
    "detail": raw(b'{"detail": "not here"}'),
    "choices-null": changed(set_top("choices", None)),
    "choices-empty": changed(set_top("choices", [])),
    "choices-object": changed(set_top("choices", {"0": 1})),
    "choices-of-text": changed(set_top("choices", ["yes"])),
    "fewer": changed(lambda body: body["choices"].pop() and None),
    "more": changed(lambda body: body["choices"].extend([dict(body["choices"][0], index=n) for n in (97, 98, 99)])),
    "same-index": changed(lambda body: [made.update(index=0) for made in body["choices"]] and None),
    "index-text": changed(set_first("index", "zero")),
    "index-far": changed(set_first("index", 10**30)),
    "backwards": changed(lambda body: body["choices"].reverse()),
    "no-usage": changed(lambda body: body.pop("usage") and None),
    "no-logprobs": changed(set_first("logprobs", None)),
    "message-null": changed(set_first("message", None)),
    "content-null": changed(say(None)),
    "content-number": changed(say(5)),
    "content-parts": changed(say([{"type": "text", "text": "so \\boxed{3}"}])),
    "content-empty": changed(say("")),
    "surrogate": changed(say("half \ud800 \x00 \u202e \u2028 \\boxed{3}")),
    "finish-number": changed(set_first("finish_reason", 7)),
    "length": changed(set_first("finish_reason", "length")),
    "cut-off": changed(cut_off),
    "numbers": changed(odd_numbers),
    **HOSTILE_ANSWERS,
}
