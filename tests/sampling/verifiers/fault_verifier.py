"""A verifier's server that misbehaves on request, in a process of its own, with a ledger of every request.

It speaks vLLM's /pooling for the character tokenizer of plain_tokens.py and chat completions with alternatives for
P(True), the grades of a judge and its comparisons, by quality and by meaning. Its score of a text depends on the text
alone. The model's name says what it does: `KIND` or `KIND?WORD`, the latter only when the text holds WORD. It answers
as many requests as it is allowed to, and holds the others back. The ledger is a file of JSON lines, one a request.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

from tests.sampling.verifiers.plain_tokens import FIRST, TAGS

SEEN: set[str] = set()
RAW = {  # bodies that are no scores
    "html": b"<html><title>502 Bad Gateway</title></html>", "empty": b"", "list": b"[]", "null": b"null",
    "garbage": b"\xff\xfe\x00{", "deep": b"[" * 10_000 + b"]" * 10_000, "countless": b"[" + b"{}," * 3_000_000 + b"{}]",
}  # fmt: skip


def share(text: str) -> float:
    """The score of a text."""
    return (1 + int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:4], "big") % 9998) / 10_000


def logits(ids: list[int]) -> list[list[float]]:
    """[bad, good] of every token: the score of all that stands before it."""
    rows = []
    for i in range(len(ids)):
        good = share(str(ids[: i + 1]))
        rows.append([0.0, math.log(good / (1 - good))])
    return rows


def text_of(body: dict[str, Any]) -> str:
    if "messages" in body:
        return str(body["messages"][0]["content"])
    return "".join(chr(number) for number in body.get("input", []) if number < FIRST)


def pooled(body: dict[str, Any], kind: str) -> Any:
    ids = body["input"]
    rows = logits(ids)
    if kind != "tokens":
        tags = {FIRST + 2, *TAGS.values()}
        rows = [row for number, row in zip(ids, rows, strict=True) if number in tags]
    if kind == "few":
        rows = rows[:-1]
    if kind in ("probabilities", "old"):
        rows = [[1 / (1 + math.exp(row[1] - row[0])), 1 / (1 + math.exp(row[0] - row[1]))] for row in rows]
    if kind == "one-column":
        rows = [[row[1] - row[0]] for row in rows]
        if body.get("use_activation", True):
            rows = [[1 / (1 + math.exp(-row[0]))] for row in rows]
    if kind == "one-probability":
        rows = [[1 / (1 + math.exp(row[0] - row[1]))] for row in rows]
    data: Any = {"nan": [[float("nan"), 0.0]] * len(rows), "words": "none"}.get(kind, rows)
    return {"data": [{"index": 0, "object": "pooling", "data": data}]}


def preference(a: str, b: str) -> float:
    """The probability that a is better than b."""
    return 1 / (1 + math.exp(4 * (share(b) - share(a))))


def same(a: str, b: str) -> float:
    """The probability that a and b mean the same: their last numbers are equal. It depends on the order."""
    last = [re.findall(r"\d+", text)[-1:] for text in (a, b)]
    return (0.9 if last[0] == last[1] else 0.05) + 0.05 * share(a + b)


def judged(text: str, kind: str) -> Any:
    """A grade of 9 or 0, or a preference for A or B, by the share of each response; `first` prefers the first shown.

    Yes or No by the meanings of two responses; without log-probabilities the likelier word.
    """
    parts = text.split(text.split("between two lines that read ")[1][:24] + "\n")
    if "Reply with one digit" in text:
        words, good = ("9", "0"), share(parts[3])
    elif "Yes or No" in text:
        words, good = ("Yes", "No"), same(parts[3], parts[5])
    else:
        words, good = ("A", "B"), preference(parts[3], parts[5])
    good = {"first": 0.9, "even": 0.5, "nearly": 0.503}.get(kind, good)
    alternatives = [{"token": words[0], "logprob": math.log(good)}, {"token": words[1], "logprob": math.log(1 - good)}]
    if kind == "neither":
        alternatives = [{"token": "Both", "logprob": 0.0}]
    if kind == "unlikely":
        alternatives = [{"token": "The", "logprob": -0.1}, {"token": "Yes", "logprob": -3.0}]
    plain = kind in ("no-logprobs", "refuses-logprobs", "chatty")
    logprobs = None if plain else {"content": [{"token": words[0], "top_logprobs": alternatives}]}
    usage = {"prompt_tokens": len(text), "completion_tokens": 1}
    word = words[0] if good >= 0.5 else words[1]
    content = "No idea what" if kind == "chatty" and "the 3." in text else f"**{word}**."
    return {"choices": [{"index": 0, "message": {"content": content}, "logprobs": logprobs}], "usage": usage}


def chatted(body: dict[str, Any], kind: str) -> Any:
    if "Criteria:" in text_of(body):
        return judged(text_of(body), kind)
    good = share(text_of(body))
    alternatives = [{"token": "True", "logprob": math.log(good)}, {"token": "False", "logprob": math.log(1 - good)}]
    if kind == "neither":
        alternatives = [{"token": "Yes", "logprob": 0.0}]
    odd = {"nan": math.nan, "infinite": math.inf, "word": "high", "nothing": None, "huge": -1e308}
    if kind in odd:
        alternatives = [{"token": token, "logprob": odd[kind]} for token in ("True", "False")]
    logprobs = None if kind == "no-logprobs" else {"content": [{"token": "True", "top_logprobs": alternatives}]}
    if kind == "other-shape":
        return {"choices": [], "scores": [0.9]}
    return {"choices": [{"index": 0, "message": {"content": "True"}, "logprobs": logprobs}]}


def echoed(body: dict[str, Any], kind: str, key: str) -> tuple[int, Any]:
    """The key in an error, in the usage, or wherever there is a text."""
    if kind == "echo-error":
        return 400, {"error": {"message": f"{'x' * 290}{key}"}}
    reply = chatted(body, "good")
    if kind == "echo-usage":
        return 200, reply | {"usage": {"prompt_tokens": 1, "completion_tokens": 1, key: 2, "details": {key: 3}}}
    return 200, json.loads(json.dumps(reply).replace('"True"', json.dumps(key)))


def answer(path: str, body: dict[str, Any], key: str = "") -> tuple[int, Any]:
    if path.endswith("/models"):
        return 200, {"data": [{"id": os.environ.get("SERVED", "good"), "max_model_len": 3000}]}
    if path == "/version":
        return 200, {"version": "0.0-test"}
    kind, _, word = str(body.get("model", "")).partition("?")
    if word and word not in text_of(body):
        kind = "good"
    if kind == "old" and "use_activation" in body:
        return 400, {"error": {"message": "unknown field use_activation"}}
    if kind == "refuses-logprobs" and "logprobs" in body:
        return 400, {"error": {"message": "unknown field logprobs"}}
    if kind.startswith("echo"):
        return echoed(body, kind, key)
    again = json.dumps(body)
    if kind in ("shaky", "day-first") and again not in SEEN:
        SEEN.add(again)
        return 503, {"error": {"message": "busy"}}
    if kind.isdigit():
        return int(kind), {"error": {"message": f"said {kind}"}}
    return 200, pooled(body, kind) if path == "/pooling" else chatted(body, kind)


async def serve(ledger: Path, delay: float) -> None:
    left = math.inf  # requests that are answered; later ones are held back

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal left
        try:
            while line := await reader.readline():
                length, key = 0, ""
                while (header := await reader.readline()).strip():
                    name, _, value = header.decode().partition(":")
                    length = int(value) if name.lower() == "content-length" else length
                    key = value.strip().removeprefix("Bearer ") if name.lower() == "authorization" else key
                path = line.decode().split(" ")[1]
                body = json.loads(await reader.readexactly(length)) if length else {}
                status, reply = 200, None
                if path == "/allow":
                    left = float(body["requests"])
                else:
                    note = {"path": path, "model": body.get("model"), "text": text_of(body)}
                    with ledger.open("a") as file:
                        file.write(json.dumps(note) + "\n")
                    await asyncio.sleep(delay)
                    while not (gone := reader.at_eof() or writer.is_closing()) and left < 1:
                        await asyncio.sleep(0.01)
                    if gone:  # it takes nothing from what those after it are allowed
                        return
                    left -= 1
                    status, reply = answer(path, body, key)
                kind, _, word = str(body.get("model", "")).partition("?")
                kind = kind if word in text_of(body) else ""
                content = RAW[kind] if kind in RAW else json.dumps(reply).encode()
                status = 429 if kind == "day" else status
                wait = "Retry-After: 86400\r\n" if kind == "day" or (kind, status) == ("day-first", 503) else ""
                head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{wait}"
                writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode())
                writer.write(content[:20] if kind == "cut" else content)
                await writer.drain()
                if kind == "cut":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2])))
