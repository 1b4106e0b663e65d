"""The verifier that the operator names: found, its place checked, and connected to when a sample needs a score."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass

from steelyard.foundation.errors import SettingError
from steelyard.gateway.limits.worst_case import NOTHING, Reading
from steelyard.gateway.messages.api_errors import LONGEST_PAUSE
from steelyard.gateway.upstream.source import RETRIES
from steelyard.gateway.vote.scoring import OwnLogprob, Scorer, Verified
from steelyard.sampling.llm.address import NO_KEY, Address
from steelyard.sampling.llm.client import UNTIMED
from steelyard.sampling.llm.named_upstreams import Upstream
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.llm.upstream import check_upstream, served
from steelyard.sampling.starting import started
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import ChatProtocol, RecordedProtocol
from steelyard.sampling.verifiers.runners.many_requests import MOST
from steelyard.sampling.verifiers.runners.where import check_place, connect
from steelyard.sampling.verifiers.scored_items import Runner

TRIES = 1 + RETRIES
LAYOUT = 256  # tokens at most that a server or a protocol puts around what it is told


@dataclass(frozen=True)
class VerifierSettings:
    """Which verifier scores the samples, and where it runs; without a place, a chat verifier asks the upstream."""

    name: str
    upstream: str | None = None
    model: str | None = None
    local: bool = False
    key_env: str = NO_KEY
    timeout: float = 30.0  # seconds for one score

    def __post_init__(self) -> None:
        """Refuse a place where it cannot run, before anything is started."""
        protocol, known = find_verifier(self.name)
        if self.upstream is not None:
            check_upstream(self.upstream, self.key_env)
        at = self.upstream is not None or isinstance(protocol, ChatProtocol)
        check_place(known.name, protocol, at=at, local=self.local)
        if not self.timeout > 0:
            raise SettingError(f"cannot wait {self.timeout:g} s for a score: give a number above 0")

    def scorer(
        self,
        score: str,
        upstreams: tuple[Upstream, ...],
        address: Address,
        stack: AsyncExitStack,
        *,
        tries: int = TRIES,
        priced: bool = False,
    ) -> Scorer:
        """What scores samples by a plan's score; it is closed with the stack. `address` is the first upstream's.

        `tries` are those of a score, and `priced` says whether the prices of a server of its own are known.
        """
        protocol, known = find_verifier(self.name)
        if isinstance(protocol, RecordedProtocol):
            return OwnLogprob()
        upstream = upstreams[0]
        own = isinstance(protocol, ChatProtocol) and self.upstream is None  # the LLM judges itself
        if own and len(upstreams) > 1:
            raise SettingError(
                f"{self.name} asks the upstream that it verifies, and there are {len(upstreams)}: say which server "
                "verifies all of them, --verifier-upstream URL"
            )
        place = self.upstream
        model = self.model or (upstream.model if own else known.model) or upstream.model

        pace = Pace(MOST, longest=LONGEST_PAUSE)  # a connection that is tried again keeps to what the server asked for

        async def ready() -> Runner:
            if own or place is None:
                here = address if own else None
                return await connect(protocol, model, here, tries=tries, timeout=UNTIMED, pace=pace)
            async with AsyncExitStack() as trial:  # what does not connect is let go of at once
                there = await trial.enter_async_context(started(served, place, self.key_env))
                runner = await connect(protocol, model, there, tries=tries, timeout=UNTIMED, pace=pace)
                stack.push_async_callback(trial.pop_all().aclose)
            return runner

        def reads(question: str) -> Reading:
            if not own and place is None:
                return NOTHING  # it is in this process, and bills nobody
            if isinstance(protocol, ChatProtocol):
                beside = sum(
                    len(each["content"].encode("utf-8", "replace")) for each in protocol.render(question, [""])
                )
                return Reading(tries * (beside + LAYOUT), tries, tries, None)
            return Reading(tries * (len(question.encode("utf-8", "replace")) + LAYOUT), 2 * tries, 0, None)

        made = Verified(
            ready, score=score, split=known.split, timeout=self.timeout, reads=reads,
            priced_as=upstream.name if own else VERIFIER if priced else None,
        )  # fmt: skip
        stack.push_async_callback(made.close)
        return made
