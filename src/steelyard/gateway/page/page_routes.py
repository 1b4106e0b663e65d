"""GET / and GET /page/state: the operator's page, and the recent requests that it shows.

The page is one document with its style and its script in it, the same bytes on every server. A browser has no key to
send when it opens an address, nor for the files of a page. So a browser without the key is refused with the page
itself, which asks for the key and contains nothing else. Its policy lets this one script and this one style sheet run,
by their hashes, and nothing be loaded.

Recent requests are kept in memory, per key. Prompts and answers are kept only if the operator says so, because everyone
who shares a key sees its requests; otherwise answers are numbered, and there is no prompt.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import web

from steelyard.foundation import look
from steelyard.gateway.feedback.feedback_summary import RecentScores
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.replies import json_bytes
from steelyard.gateway.page.live_vote import ask
from steelyard.gateway.server_state import OWNER, STATE, State
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.vote_reply import ballots, vote_summary
from steelyard.sampling.llm.prices import currency_of

FILES = Path(__file__).parent
SCRIPTS = ("server.js", "answers.js", "ask.js", "held.js", "requests.js", "code.js", "start.js")
MAX_RECENT = 10  # requests per key
MAX_OWNERS = 100  # keys whose requests are remembered: the most recent ones
LONGEST_PROMPT = 2000  # characters
LONGEST_ANSWER = 200
FIELDS = ("confidence", "share", "abstained", "policy", "method", "none_correct", "samples", "stopped")


class RecentRequests:
    """Remembers the last requests; `texts`: with their prompts and answers."""

    def __init__(self, *, texts: bool) -> None:
        self.texts = texts
        self._requests: dict[str, deque[dict[str, Any]]] = {}  # by owner id, the most recent last
        self.scores = RecentScores()

    def on_decision(self, name: str, decision: Decision, owner: str) -> None:
        summary = vote_summary(decision)
        answers = [one["answer"] for one in summary["answers"]]
        names: dict[str | None, str | None] = {None: None}
        for number, answer in enumerate(answers, 1):
            names[answer] = answer[:LONGEST_ANSWER] if self.texts else f"answer {number}"
        entry = {field: summary[field] for field in FIELDS}
        if decision.threshold is not None:
            entry["threshold"] = decision.threshold
        if decision.notes:
            entry["notes"] = decision.notes
        entry |= {
            "id": name,
            "at": time.time(),
            "answer": names[summary["answer"]],
            "answers": [one | {"answer": names[one["answer"]]} for one in summary["answers"]],
            "ballots": [one | {"answer": names[one["answer"]]} for one in ballots(decision)],
            "prompt": decision.chat_request.question[:LONGEST_PROMPT] if self.texts else None,
        }
        own = self._requests.pop(owner, None) or deque[dict[str, Any]](maxlen=MAX_RECENT)
        own.appendleft(entry)
        self._requests[owner] = own
        if len(self._requests) > MAX_OWNERS:
            del self._requests[next(iter(self._requests))]
        self._remember_scores(decision)

    def of(self, owner: str) -> list[dict[str, Any]]:
        """The requests of one key, the newest first."""
        return list(self._requests.get(owner, ()))

    def _remember_scores(self, decision: Decision) -> None:
        fitted = decision.method.fitted_on_
        scores = [vote.score for vote in decision.outcome.votes if vote.score is not None]
        if fitted and fitted.reference_scores and scores:
            self.scores.reference = tuple(fitted.reference_scores)
            self.scores.add(scores)


RECENT = web.AppKey("recent", RecentRequests)


def add_page(app: web.Application, state: State) -> None:
    """Add the routes of the page, and record requests for it."""
    app[RECENT] = RecentRequests(texts=state.keep_texts)
    state.listeners.append(app[RECENT].on_decision)
    app.add_routes([web.get("/", page), web.get("/page/state", page_state), web.post("/page/ask", ask)])


async def page_state(request: web.Request) -> web.Response:
    """The model, its rule, the recent requests of this key, and whether the scores have drifted."""
    state, recent = request.app[STATE], request.app[RECENT]
    content: dict[str, Any] = {
        "model": state.name,
        "n": state.n,
        "most": state.caps.samples,
        "method": _method(state),
        "texts": recent.texts,
        "feedback": state.feedback is not None,
        "currency": currency_of(state.prices),
        "requests": recent.of(request[OWNER]),
        "drift": await asyncio.to_thread(recent.scores.drift),
    }
    return web.Response(body=json_bytes(content), content_type="application/json")


def _method(state: State) -> dict[str, Any] | None:
    """The plan's method and its stopping rule; None if the method depends on the available scores."""
    method = state.voter.method
    if method is None:
        return None
    rule = method.stopping_
    described = None if rule is None else {"name": rule.name, "threshold": rule.threshold, "cap": rule.cap}
    return {"name": method.name, "colour": method.colour, "rule": described}


async def page(_: web.Request) -> web.Response:
    return _response(200)


def refused(request: web.Request, error: ApiError) -> web.Response:
    """The reply to a request that failed; a browser without the key gets the page, which asks for it."""
    opening = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
    if error.status == 401 and request.rel_url.raw_path == "/" and opening:
        return _response(401, error.headers)
    return error.response()


def _response(status: int, more: Mapping[str, str] | None = None) -> web.Response:
    body, policy = document()
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store", **(more or {})}
    return web.Response(body=body, status=status, content_type="text/html", charset="utf-8", headers=headers)


@cache
def document() -> tuple[bytes, str]:
    """The page and its Content-Security-Policy."""
    style, script = look.style(FILES / "gateway.css"), look.script(*(FILES / name for name in SCRIPTS))
    html = Template((FILES / "gateway.html").read_text(encoding="utf-8")).substitute(style=style, script=script)
    policy = (
        f"default-src 'none'; script-src {look.allowed(script)}; style-src {look.allowed(style)}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return html.encode(), policy
