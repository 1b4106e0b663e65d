"""The operator's settings from the command line, checked before the server listens."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.answers.extract import AUTO, check_kind, kind_of
from steelyard.answers.reader import AnswerReader
from steelyard.answers.similarities.similarity import DEFAULT
from steelyard.foundation.environment import CLIENT_KEY, KEY_NAMES
from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.foundation.files import read_small
from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.access import is_loopback
from steelyard.gateway.vote.verifier_settings import VerifierSettings
from steelyard.gateway.vote.vote_settings import unfitted_methods
from steelyard.sampling.ask.ask_cascade import cascade_for
from steelyard.sampling.ask.prepare import planned, samples_to_draw
from steelyard.sampling.ask.sample_votes import SCORE, tell_rule
from steelyard.sampling.llm.prices import VERIFIER, Price, Prices, check_price_names, price_of
from steelyard.sampling.llm.upstreams import Upstream, read_upstreams
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.entry_pool import EntryPool
from steelyard.tables.plan_reading import answers_of_plan, check_plan_or_method
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping.cascade import Cascade

MIN_KEY = 8  # characters
MAX_KEY_FILE = 1 << 20  # bytes
MODEL_PREFIX = "steelyard/"
HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")  # or an IPv4 address


@dataclass(frozen=True)
class Configuration:
    """The settings of a server."""

    upstream: str
    model: str | None = None
    plan: Path | None = None
    method: str | None = None
    n: int = 8
    answers: str = AUTO
    host: str = "127.0.0.1"
    port: int = 8000
    allow_hosts: tuple[str, ...] = ()
    key_env: str = "OPENAI_API_KEY"
    key_file: Path | None = None
    unauthenticated: bool = False
    verifier: VerifierSettings | None = None
    keep_texts: bool = False
    feedback: Path | None = None
    access_log: str | None = None  # a file, or - for stderr
    price: Price | Prices | None = None  # by the name of an upstream, or one for all
    allow_fields: tuple[str, ...] = ()  # under a cap on the cost, although they may change the price
    caps: Caps = field(default_factory=Caps)

    def __post_init__(self) -> None:
        """Refuse settings that cannot work, before anything is started."""
        if self.answers != AUTO:
            check_kind(self.answers)
        check_plan_or_method(self.plan, self.method)
        if self.method and self.method not in unfitted_methods():
            raise SettingError(
                f"{self.method!r} cannot vote without a plan: {did_you_mean(self.method, unfitted_methods())}"
            )
        if not 1 <= self.n <= self.caps.samples:
            raise SettingError(
                f"cannot draw {self.n} samples per request: -n must be between 1 and {self.caps.samples}"
            )
        self._check_cost_cap()
        self._check_embeddings()
        for name in self.allow_hosts:
            if not HOST_NAME.fullmatch(name):
                raise SettingError(
                    f"--allow-host takes a name such as votes.example.org, without scheme or port, not {name!r}"
                )
        if not 0 <= self.port <= 65535:
            raise SettingError(f"{self.port} is not a valid port: use 1 to 65535, or 0 to pick a free one")
        if not is_loopback(self.host) and not self.keys() and not self.unauthenticated:
            raise SettingError(
                f"{self.host} can be reached from other machines, but no key is set: set ${CLIENT_KEY} or "
                "--key-file, or add --unsafe-no-key"
            )

    def _check_embeddings(self) -> None:
        """Refuse embeddings beside anything else that sets how free text is compared."""
        if self.verifier is None or not self.verifier.embeds:
            return
        name, similarity = self.verifier.name, None if self.answers == AUTO else kind_of(self.answers).similarity
        if self.plan:
            raise SettingError(f"no plan learns from {name} in the gateway: omit --plan or --verifier {name}")
        if similarity not in (None, DEFAULT):
            raise SettingError(
                f"--answers {self.answers} compares responses without {name}: write --answers free, or omit --verifier "
                f"{name}"
            )

    def _check_cost_cap(self) -> None:
        if self.caps.cost is not None and not self.prices:
            raise SettingError("--cap cost needs prices: add --token-price IN,OUT")
        if self.allow_fields and self.caps.cost is None:
            raise SettingError("--allow-field needs --cap cost=MOST: without a cost limit every field is allowed")

    @property
    def name(self) -> str:
        """The name of the model that votes."""
        return MODEL_PREFIX + (self.plan.stem if self.plan else self.method or "vote")

    def keys(self) -> tuple[str, ...]:
        """The keys of clients: the lines of the key file, else the environment variable."""
        if self.key_file:
            try:
                lines = read_small(self.key_file, MAX_KEY_FILE).decode().splitlines()
            except (OSError, ValueError) as error:
                raise SettingError(
                    f"cannot read the keys in {self.key_file}: {error}; name a file with one key per line"
                ) from None
            keys = [line.strip() for line in lines if line.strip()]
            if not keys:
                raise SettingError(f"there is no key in {self.key_file}: write one per line")
        else:
            KEY_NAMES.add(CLIENT_KEY)
            keys = [key] if (key := os.environ.get(CLIENT_KEY, "").strip()) else []
        for key in keys:
            if len(key) < MIN_KEY or not key.isascii() or not key.isprintable() or " " in key:
                raise SettingError(
                    f"a key must have at least {MIN_KEY} printable ASCII characters without blanks: make one with "
                    "'openssl rand -hex 32'"
                )
        return tuple(dict.fromkeys(keys))

    @property
    def prices(self) -> Prices:
        """The prices by upstream; the empty name stands for all others."""
        return {"": self.price} if isinstance(self.price, Price) else self.price or {}

    def upstreams(self) -> tuple[Upstream, ...]:
        """The upstreams, checked; each gives n samples."""
        upstreams = read_upstreams(self.upstream, self.model, self.key_env, self.n)
        names = [upstream.name for upstream in upstreams]
        for upstream in upstreams:
            upstream.check()
            if upstream.name == self.name:
                raise SettingError(f"{upstream.name!r} is the model that votes: give the upstream another name")
        billable = [*names, VERIFIER] if self.verifier and self.verifier.upstream else names
        check_price_names(self.prices, billable)
        if self.caps.cost is not None and (free := [name for name in names if not price_of(self.prices, name)]):
            raise SettingError(f"a cap on the cost needs the prices of {free[0]} too: --token-price {free[0]}=IN,OUT")
        if self.caps.cost is not None and VERIFIER in billable and VERIFIER not in self.prices:
            raise SettingError(
                f"a cap on the cost needs the prices of the verifier too: --token-price {VERIFIER}=IN,OUT, or "
                f"{VERIFIER}=0,0 if it is free"
            )
        if self.n * len(upstreams) > self.caps.samples:
            raise SettingError(
                f"cannot draw {self.n} samples of each of {len(upstreams)} upstreams: at most {self.caps.samples} are "
                "drawn per request; lower -n, or raise --cap samples"
            )
        return upstreams

    def kind(self, method: Method | None) -> str:
        """The kind of answers: the plan's, else the operator's; `auto` depends on the text of each question."""
        return self.answers if method is None else answers_of_plan(method, self.answers)

    def voter(self, upstreams: tuple[Upstream, ...]) -> tuple[Method | None, str, Cascade | None]:
        """The plan or method (None: depends on the available scores), its score and its cascade."""
        verifier = self.verifier.name if self.verifier and not self.verifier.embeds else None
        if not self.plan:
            named = method_class(self.method or "majority")()
            if self.answers != AUTO and kind_of(self.answers).similarity is not None:
                Ballot(named, answers=self.answers)  # fails now if it cannot vote on free text
            return named if self.method else None, verifier or SCORE, None
        names = tuple(upstream.name for upstream in upstreams if upstream.name)
        model = ", ".join(names) or upstreams[0].model
        method, score = planned(self.plan, n=self.n, model=model, sources=names, verifier=verifier)
        with Ballot(method, answers=self.answers):  # fails now if the plan cannot vote on samples as they arrive
            pools = EntryPool(method, AnswerReader(self.answers))
        tell_rule(method)
        cascade = cascade_for(method, names, None)
        samples = samples_to_draw(method, names) if cascade or method.samples_ else {}
        if names:
            active = [name for name in names if cascade or name in samples or not samples]
            method.check_pool(pools.pool([(None, None, name) for name in active]))
        total = sum(samples.values())
        if total > self.caps.samples:
            raise SettingError(
                f"the plan may draw {total} samples per request, but {self.caps.samples} are allowed: raise --cap "
                "samples"
            )
        return method, score, cascade
