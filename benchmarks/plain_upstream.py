"""An upstream that costs little: it answers every chat request after a while, with the prompt in the response.

    python -m benchmarks.plain_upstream SECONDS

The model `single` gives one choice, whatever n says. A stream has its first token after the while. Who asks for one
token, as the verifier p-true does, is told True or False. Of `eighth`, which gives one choice too, every eighth
request is refused. A GET says how many choices it has given. It prints its port.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
USAGE = {"prompt_tokens": 10, "completion_tokens": 12, "total_tokens": 22}
TOKENS = 12
VERDICT = [{"token": "True", "logprob": -0.2, "top_logprobs": [
    {"token": "True", "logprob": -0.2}, {"token": "False", "logprob": -1.8},
]}]  # fmt: skip
NUMBERS, EIGHTHS = itertools.count(), itertools.count()
GIVEN = [0]  # choices
LISTED = b'{"object": "list", "data": [], "choices_given": %d}'
REFUSED = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Upstream(asyncio.Protocol):
    """One connection."""

    def __init__(self, delay: float) -> None:
        self.delay, self.data = delay, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            head = self.data[:end].lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if len(self.data) < end + 4 + length:
                return
            body = self.data[end + 4 : end + 4 + length]
            self.data = self.data[end + 4 + length :]
            answer = self.answer(json.loads(body)) if length else LISTED % GIVEN[0]
            out = answer if not answer or answer.startswith(b"HTTP") else HEAD % len(answer) + answer
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self.send, out)
            else:
                self.send(out)

    def answer(self, asked: dict[str, Any]) -> bytes:
        """What is sent for a request: the body of a reply, or all of it with its head."""
        return reply(asked)

    def send(self, out: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(out)


def reply(asked: dict[str, Any]) -> bytes:
    """A completion that says the prompt again, and 7 as its answer."""
    if asked["model"] == "eighth" and next(EIGHTHS) % 8 == 0:
        return REFUSED
    text = f"{asked['messages'][-1]['content']} So the answer is \\boxed{{7}}"
    frame = {"id": f"chatcmpl-{next(NUMBERS)}", "created": 0, "model": asked["model"]}
    if asked.get("stream"):
        return streamed(frame | {"object": "chat.completion.chunk"}, text)
    tokens: list[dict[str, Any]] = [{"token": "x", "logprob": -0.1, "top_logprobs": []}] * TOKENS
    if asked.get("max_tokens") == 1:
        text, tokens = "True", VERDICT
    choices = [
        {
            "index": i, "finish_reason": "stop", "message": {"role": "assistant", "content": text},
            "logprobs": {"content": tokens} if asked.get("logprobs") else None,
        }
        for i in range(1 if asked["model"] in ("single", "eighth") else asked.get("n") or 1)
    ]  # fmt: skip
    GIVEN[0] += len(choices)
    return json.dumps(frame | {"object": "chat.completion", "choices": choices, "usage": USAGE}).encode()


def streamed(frame: dict[str, Any], text: str) -> bytes:
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": f"{word} "}, None) for word in text.split(" ")] + [({}, "stop")]
    events = [
        json.dumps(frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        for delta, finish in deltas
    ]
    parts = [f"data: {each}\n\n".encode() for each in (*events, "[DONE]")]
    return STREAM + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


async def serve(delay: float) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Upstream(delay), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
