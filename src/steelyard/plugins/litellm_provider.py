"""A provider for LiteLLM: one request is sampled n times through LiteLLM, and the reply is the winner of the vote.

    import litellm
    from steelyard.plugins.litellm_provider import Steelyard

    litellm.custom_provider_map = [{"provider": "steelyard", "custom_handler": Steelyard("openai/gpt-5-mini", n=8)}]
    litellm.completion(model="steelyard/vote", messages=[..])

It votes as the gateway does, with the same settings in a request and the same `steelyard` object in the reply
(docs/plugins.md). The upstreams are set here and not in a request: LiteLLM's proxy lets clients change the settings
of a model.
"""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
import weakref
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from litellm import CustomLLM, ModelResponse
from litellm.llms.custom_llm import CustomLLMError
from litellm.types.utils import GenericStreamingChunk

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import PlanError, SettingError, SteelyardError
from steelyard.gateway.caps import Caps
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.http.chat_route import vote_settings
from steelyard.gateway.limits.request_budget import FIELDS
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.chat_request import OURS, read_chat
from steelyard.gateway.messages.json_body import read_members
from steelyard.gateway.server_state import State
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.request_vote import Voter
from steelyard.gateway.vote.scoring import OwnLogprob
from steelyard.gateway.vote.vote_counter import VoteCounter
from steelyard.gateway.vote.vote_reply import completion
from steelyard.plugins.litellm_upstream import COST, PROVIDER, VOTING, read_upstreams, source_of
from steelyard.runs.parameters import Abilities
from steelyard.sampling.ask.prepare import by_score
from steelyard.sampling.ask.sample_votes import COPY, SCORE
from steelyard.sampling.llm.upstreams import Upstream
from steelyard.voting.methods import load

Result = TypeVar("Result")
IGNORED = ("extra_body", "max_retries", "stream", "stream_options")  # LiteLLM's own


class Steelyard(CustomLLM):
    """Samples a request through LiteLLM and votes on the responses."""

    def __init__(
        self,
        upstream: str | Mapping[str, Any],
        *,
        n: int = 8,
        plan: str | Path | None = None,
        method: str | None = None,
        answers: str = AUTO,
    ) -> None:
        """Check the settings; nothing is sent.

        Args:
            upstream: A model of LiteLLM such as "openai/gpt-5-mini", its settings {"model": .., "api_base": ..}, or
                several of either by name, as in a plan for several LLMs.
            n: Samples of each upstream, unless the plan sets their number.
            plan: Path of a plan that needs no score, or `self_logprob`.
            method: A method that needs no plan; without either it is the majority vote.
            answers: Kind of answers. By default the plan's, else decided by each question.
        """
        super().__init__()
        self.upstreams = read_upstreams(upstream)
        self.configuration = Configuration("", plan=Path(plan) if plan else None, method=method, n=n, answers=answers)
        _check_score(self.configuration.plan)
        if n * len(self.upstreams) > self.configuration.caps.samples:
            raise SettingError(
                f"cannot draw {n} samples of each of {len(self.upstreams)} upstreams: at most "
                f"{self.configuration.caps.samples} are drawn per request; lower n"
            )
        models = [Upstream(name, "", settings["model"], "") for name, settings in self.upstreams.items()]
        voter, score, cascade = self.configuration.voter(tuple(models))
        kind = self.configuration.kind(voter)
        self.voter = Voter(voter, OwnLogprob(), kind, cascade, score)
        self.counter = VoteCounter()
        weakref.finalize(self, self.counter.close)

    async def vote(self, model: str, messages: list[Any], options: Mapping[str, Any], timeout: Any) -> dict[str, Any]:
        """The reply to a request, as JSON."""
        if VOTING.get():
            raise ApiError(400, f"{PROVIDER}{model} is asked by a vote of Steelyard: let its upstream be an LLM")
        deadline = float(timeout) if isinstance(timeout, int | float) else self.configuration.caps.deadline
        caps = Caps(deadline=min(deadline, self.configuration.caps.deadline))
        body = {"model": PROVIDER + model, "messages": messages, **_fields(options)}
        chat_request = read_chat(read_members(json.dumps(body).encode()), caps)
        sources = [source_of(name, settings) for name, settings in self.upstreams.items()]
        state = State(chat_request.model, self.voter, sources, self.configuration.n, caps, self.counter)
        settings = vote_settings(state, chat_request)
        method = state.voting.method(settings)
        logprobs = method is not None and by_score(method)
        for source in sources:
            source.abilities = Abilities(most=1, logprobs=logprobs)
        decision = await state.voting.decide(chat_request, settings, uuid.uuid4().hex)
        if logprobs:
            _check_scored(decision)
        costs: list[Any] = [reply.get(COST) for reply in decision.replies]
        return completion(decision) | {COST: None if None in costs else sum(costs)}

    async def acompletion(self, *_: Any, **call: Any) -> ModelResponse:
        """The completion with the winning response, and the vote in `steelyard`."""
        reply = await self._reply(call)
        cost = reply.pop(COST)
        response = ModelResponse(**reply)
        if cost is not None:
            response._hidden_params["response_cost"] = cost
        return response

    def completion(self, *_: Any, **call: Any) -> ModelResponse:
        """As `acompletion`."""
        return _wait(self.acompletion(**call))

    async def astreaming(self, *_: Any, **call: Any) -> AsyncIterator[GenericStreamingChunk]:
        """The winning response in chunks; the last has the usage and the vote."""
        for chunk in _chunks(await self._reply(call)):
            yield chunk

    def streaming(self, *_: Any, **call: Any) -> Iterator[GenericStreamingChunk]:
        """As `astreaming`."""
        yield from _chunks(_wait(self._reply(call)))

    async def _reply(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a call of LiteLLM; an error is one that LiteLLM knows, with the status of the gateway's."""
        try:
            for name in ("api_base", "api_key"):
                if call.get(name):
                    raise invalid(name, f"{name} is not used here: set it with the upstream of Steelyard(..)")
            return await self.vote(call["model"], call["messages"], call["optional_params"], call.get("timeout"))
        except ApiError as error:
            raise CustomLLMError(error.status, error.message) from None
        except (SteelyardError, ValueError) as error:
            raise CustomLLMError(400, str(error)) from None


def _check_scored(decision: Decision) -> None:
    """Refuse a vote by log-probabilities if no sample has any; note it if some have none."""
    without = sum(sample.score is None for sample in decision.good)
    if without == len(decision.good):
        raise ApiError(
            502, f"the upstream returns no log-probabilities, which {decision.method.name} needs: use another, or a "
            "plan or method without scores", code="no_logprobs",
        )  # fmt: skip
    if without:
        decision.notes.append(f"{without} of {len(decision.good)} samples have no log-probabilities")


def _check_score(plan: Path | None) -> None:
    """Refuse a plan whose score only a verifier gives."""
    if plan is None:
        return
    voter = load(plan)
    score = voter.fitted_on_.score if voter.fitted_on_ else None
    if by_score(voter) and score and score.partition(":")[0] not in (SCORE, COPY):
        raise PlanError(
            f"{plan} weighs by the score {score!r}, and no verifier runs inside LiteLLM: run 'steelyard serve --plan "
            f"{plan} --verifier ..' and name it to LiteLLM as openai/{PROVIDER}{plan.stem} with its api_base"
        )


def _fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request; those that could change where it is sent, or what it costs, are refused."""
    fields = {name: value for name, value in options.items() if name not in IGNORED} | (options.get("extra_body") or {})
    if options.get("stream") and fields.get("n") not in (None, 1):
        raise invalid("n", "a stream has one choice: omit n, or stream")
    for name in fields:
        if name not in FIELDS:
            raise invalid(name, f"{name!r:.60} is not passed on to the samples: set it with the upstream")
    return fields


def _chunks(reply: Mapping[str, Any]) -> Iterator[GenericStreamingChunk]:
    message, finish = reply["choices"][0]["message"], reply["choices"][0]["finish_reason"]
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield _chunk(tool_use={**call, "index": index})
    yield _chunk(text=message.get("content") or "")
    yield _chunk(
        is_finished=True, finish_reason=finish, usage=reply["usage"], provider_specific_fields={OURS: reply[OURS]}
    )


def _chunk(**fields: Any) -> GenericStreamingChunk:
    return GenericStreamingChunk(
        **{"text": "", "is_finished": False, "finish_reason": "", "usage": None, "index": 0, "tool_use": None, **fields}
    )


def _wait(work: Coroutine[Any, Any, Result]) -> Result:
    """Wait for work in the event loop of another thread: one may be running in this one, as in a notebook."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except BaseException:  # Ctrl-C
        future.cancel()
        raise


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop of all synchronous calls: LiteLLM keeps its connections by loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="steelyard", daemon=True).start()
    return loop
