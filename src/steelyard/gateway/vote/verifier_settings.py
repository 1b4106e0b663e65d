"""The operator's settings of the verifier, checked at start-up; it is connected when a sample needs a score."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass

from steelyard.foundation.errors import SettingError
from steelyard.gateway.limits.request_budget import NO_USAGE, ScoreUsage
from steelyard.gateway.messages.api_errors import LONGEST_PAUSE
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.gateway.upstream.source import RETRIES
from steelyard.gateway.vote.embedder import Embedder
from steelyard.gateway.vote.scoring import OwnLogprob, Scorer, Verified
from steelyard.sampling.llm.address import NO_KEY, Address
from steelyard.sampling.llm.client import UNTIMED
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.llm.upstreams import Upstream, check_upstream, served, started
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.criteria import with_criteria
from steelyard.sampling.verifiers.protocol import ChatProtocol, EmbeddingProtocol, Protocol, RecordedProtocol, Verifier
from steelyard.sampling.verifiers.runners.embedding_server import EmbeddingServer
from steelyard.sampling.verifiers.runners.many_requests import MOST
from steelyard.sampling.verifiers.runners.where import check_one_at_a_time, check_place, connect
from steelyard.sampling.verifiers.scored_items import Runner

TRIES = 1 + RETRIES
LAYOUT = 256  # tokens that a server or a protocol adds to the text, at most


@dataclass(frozen=True)
class VerifierSettings:
    """Which verifier scores the samples, and where it runs; by default a chat verifier asks the upstream."""

    name: str
    upstream: str | None = None
    model: str | None = None
    local: bool = False
    key_env: str = NO_KEY
    timeout: float = 30.0  # seconds for one score
    criteria: str | None = None  # of a judge

    def __post_init__(self) -> None:
        """Refuse a verifier that cannot run there, before anything is started."""
        protocol, verifier = self._protocol()
        if self.embeds and (self.upstream is None or self.local or not (self.model or verifier.model)):
            raise SettingError(
                f"{verifier.name} needs a server with an embedding model: name both with --verifier-upstream URL and "
                "--verifier-model NAME"
            )
        if not self.embeds:
            check_one_at_a_time(verifier.name, protocol, "serve")
        if self.upstream is not None:
            check_upstream(self.upstream, self.key_env)
        at = self.upstream is not None or isinstance(protocol, ChatProtocol)
        check_place(verifier.name, protocol, at=at, local=self.local)
        if not self.timeout > 0:
            raise SettingError(f"cannot wait {self.timeout:g} s for a score: give a number above 0")

    @property
    def embeds(self) -> bool:
        """Whether it gives vectors, by which free text is compared, instead of scores."""
        return isinstance(self._protocol()[0], EmbeddingProtocol)

    def _protocol(self) -> tuple[Protocol, Verifier]:
        protocol, verifier = find_verifier(self.name)
        return with_criteria(verifier.name, protocol, self.criteria), verifier

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
        """The scorer for a plan's score; it is closed with the stack. `address` is the first upstream's.

        `tries`: per score. `priced`: whether the prices of the verifier's own server are known.
        """
        protocol, verifier = self._protocol()
        if isinstance(protocol, RecordedProtocol):
            return OwnLogprob()
        upstream = upstreams[0]
        own = isinstance(protocol, ChatProtocol) and self.upstream is None  # the LLM judges itself
        if own and len(upstreams) > 1:
            raise SettingError(
                f"{self.name} uses the upstream that it verifies, but there are {len(upstreams)}: name one server "
                "that verifies all of them with --verifier-upstream URL"
            )
        url = self.upstream
        model = self.model or (upstream.model if own else verifier.model) or upstream.model

        pace = Pace(MOST, longest=LONGEST_PAUSE)  # shared by reconnections, so that they respect the server's pauses

        async def ready() -> Runner:
            if own or url is None:
                own_address = address if own else None
                return await connect(protocol, model, own_address, tries=tries, timeout=UNTIMED, pace=pace)
            return await self._connected(url, model, stack, tries, pace)

        def usage_per_score(question: str) -> ScoreUsage:
            if not own and url is None:
                return NO_USAGE  # it runs in this process
            if isinstance(protocol, ChatProtocol):
                beside = sum(
                    len(message["content"].encode("utf-8", "replace")) for message in protocol.render(question, [""])
                )
                return ScoreUsage(tries * (beside + LAYOUT), tries, tries, None)
            return ScoreUsage(tries * (len(question.encode("utf-8", "replace")) + LAYOUT), 2 * tries, 0, None)

        verified = Verified(
            ready, score=score, split=verifier.split, timeout=self.timeout, usage_per_score=usage_per_score,
            priced_as=upstream.name if own else VERIFIER if priced else None,
        )  # fmt: skip
        stack.push_async_callback(verified.close)
        return verified

    def embedder(
        self, stack: AsyncExitStack, secrets: Secrets, *, tries: int = TRIES, priced: bool = False
    ) -> Embedder:
        """The embedding server by which free text is compared; it is closed with the stack.

        A request that fails is not sent again in halves: if one text fails, the vectors of the others are not used.
        """
        url, model = self.upstream or "", self.model or self._protocol()[1].model
        pace = Pace(MOST, longest=LONGEST_PAUSE)

        async def ready() -> Runner:
            runner = await self._connected(url, model, stack, tries, pace)
            if isinstance(runner, EmbeddingServer):
                runner.halves = False
            return runner

        embedder = Embedder(
            ready, secrets, timeout=self.timeout, priced_as=VERIFIER if priced else None,
            usage_per_score=lambda _: ScoreUsage(tries * LAYOUT, tries, 0, None),
        )  # fmt: skip
        stack.push_async_callback(embedder.close)
        return embedder

    async def _connected(self, url: str, model: str, stack: AsyncExitStack, tries: int, pace: Pace) -> Runner:
        """Connect to the verifier's own server."""
        async with AsyncExitStack() as trial:  # closed at once if it does not connect
            server = await trial.enter_async_context(started(served, url, self.key_env))
            runner = await connect(self._protocol()[0], model, server, tries=tries, timeout=UNTIMED, pace=pace)
            stack.push_async_callback(trial.pop_all().aclose)
        return runner
