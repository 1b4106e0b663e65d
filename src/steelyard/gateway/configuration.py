"""What the operator says on the command line, checked before the server listens."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.answers.extract import check_kind
from steelyard.environment import CLIENT_KEY, KEY_NAMES
from steelyard.errors import SettingError, did_you_mean
from steelyard.gateway.access import is_loopback
from steelyard.gateway.caps import Caps
from steelyard.gateway.verifier import VerifierSettings
from steelyard.gateway.vote_settings import unfitted_methods
from steelyard.gateway.worst_case import Price
from steelyard.jobs.ask import SCORE, planned
from steelyard.jobs.ballot import Ballot
from steelyard.llm.named_upstreams import Upstream, read_upstreams
from steelyard.methods import method_class
from steelyard.methods.base.method import Method

LEAST_KEY = 8  # characters
MODEL_PREFIX = "steelyard/"


@dataclass(frozen=True)
class Configuration:
    """A server, as it was asked for."""

    upstream: str
    model: str | None = None
    plan: Path | None = None
    method: str | None = None
    n: int = 8
    answers: str = "math"
    host: str = "127.0.0.1"
    port: int = 8000
    key_env: str = "OPENAI_API_KEY"
    key_file: Path | None = None
    unauthenticated: bool = False
    verifier: VerifierSettings | None = None
    keep_texts: bool = False
    price: Price | None = None
    feedback: Path | None = None
    caps: Caps = field(default_factory=Caps)

    def __post_init__(self) -> None:
        """Refuse what cannot work, before anything is started."""
        check_kind(self.answers)
        if self.plan and self.method:
            raise SettingError("--plan and --method exclude each other: a plan has its method")
        if self.method and self.method not in unfitted_methods():
            raise SettingError(
                f"no method {self.method!r} without a plan: {did_you_mean(self.method, unfitted_methods())}"
            )
        if not 1 <= self.n <= self.caps.samples:
            raise SettingError(
                f"cannot draw {self.n} samples per request: -n is at least 1 and at most {self.caps.samples}"
            )
        if self.caps.cost is not None and self.price is None:
            raise SettingError("a limit of the cost needs the prices: give them with --price PROMPT,RESPONSE")
        if not 0 <= self.port <= 65535:
            raise SettingError(f"there is no port {self.port}: give one from 1 to 65535, or 0 for any that is free")
        if not is_loopback(self.host) and not self.keys() and not self.unauthenticated:
            raise SettingError(
                f"{self.host} can be reached from other machines, and there is no key: set ${CLIENT_KEY} or "
                "--key-file, or say --unsafe-allow-unauthenticated"
            )

    @property
    def name(self) -> str:
        """The name of the model that votes."""
        return MODEL_PREFIX + (self.plan.stem if self.plan else self.method or "vote")

    def keys(self) -> tuple[str, ...]:
        """The keys that clients may have: a line each of the file, else the environment variable."""
        if self.key_file:
            try:
                lines = self.key_file.read_text(encoding="utf-8").splitlines()
            except (OSError, ValueError) as error:
                raise SettingError(f"cannot read the keys in {self.key_file}: {error}") from None
            found = [line.strip() for line in lines if line.strip()]
            if not found:
                raise SettingError(f"there is no key in {self.key_file}: write one per line")
        else:
            KEY_NAMES.add(CLIENT_KEY)
            found = [key] if (key := os.environ.get(CLIENT_KEY, "").strip()) else []
        for key in found:
            if len(key) < LEAST_KEY or not key.isascii() or not key.isprintable() or " " in key:
                raise SettingError(
                    f"a key must have at least {LEAST_KEY} printable ASCII characters without blanks: make one with "
                    "'openssl rand -hex 32'"
                )
        return tuple(dict.fromkeys(found))

    def upstreams(self) -> tuple[Upstream, ...]:
        """The upstreams, checked."""
        found = read_upstreams(self.upstream, self.model, self.key_env, self.n)
        if len(found) > 1:
            raise SettingError("the gateway asks one upstream so far: name one with --upstream URL")
        for each in found:
            each.check()
        return found

    def voter(self, upstreams: tuple[Upstream, ...]) -> tuple[Method | None, str]:
        """The plan or the method, None where it depends on the scores there are, and the score it goes by."""
        verifier = self.verifier.name if self.verifier else None
        if self.plan:
            method, score = planned(self.plan, n=self.n, model=upstreams[0].model, verifier=verifier)
            Ballot(method, answers=self.answers).close()  # a plan that cannot vote on samples as they come says so now
            return method, score
        return method_class(self.method)() if self.method else None, verifier or SCORE
