"""An upstream that is asked through LiteLLM, with the settings that `litellm.acompletion` takes: model, api_base, ..

To the gateway's vote it is a source like any other. Each sample is a request of its own, because few of LiteLLM's
providers support `n`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import litellm

from steelyard.foundation.errors import SettingError
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.gateway.upstream.source import Source
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import AGAIN, BUSY, Client
from steelyard.sampling.llm.faults import BusyError, GoneError, LateError, RefusedError, StatusError, TryError
from steelyard.sampling.llm.retry import retry_after

COST = "litellm_response_cost"  # in the content of a reply: what LiteLLM computed for it
PROVIDER = "steelyard/"
IN_ENVIRONMENT = "os.environ/"  # begins a setting that LiteLLM reads from the environment
# The vote repeats requests itself, and a cached response is not another sample.
ONE_TRY = {"num_retries": 0, "max_retries": 0, "cache": {"no-cache": True, "no-store": True}, "stream": False}
VOTING: ContextVar[bool] = ContextVar("steelyard_voting", default=False)  # whether a vote has sent this request
MOST = 2**16  # samples at once: the caps bound them
Settings = Mapping[str, Any]


def read_upstreams(upstream: str | Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of each upstream by name; the only one has the name "".

    >>> read_upstreams("openai/gpt"), read_upstreams({"a": "openai/gpt", "b": {"model": "groq/x", "api_key": "k"}})
    ({'': {'model': 'openai/gpt'}}, {'a': {'model': 'openai/gpt'}, 'b': {'model': 'groq/x', 'api_key': 'k'}})
    """
    if isinstance(upstream, str) or (isinstance(upstream, Mapping) and isinstance(upstream.get("model"), str)):
        return {"": _settings("", upstream)}
    if not isinstance(upstream, Mapping) or not upstream:
        raise SettingError("the upstream must be a model of LiteLLM, its settings, or several by name: {'a': .., ..}")
    if not all(isinstance(name, str) and name.strip() for name in upstream):
        raise SettingError("every one of several upstreams needs a name: {'a': 'PROVIDER/MODEL', ..}")
    return {name: _settings(name, settings) for name, settings in upstream.items()}


def _settings(name: str, settings: Any) -> dict[str, Any]:
    read = {"model": settings} if isinstance(settings, str) else settings
    model = read.get("model") if isinstance(read, Mapping) else None
    if not isinstance(model, str) or not model.strip():
        raise SettingError(f"upstream {name!r:.60} has no model: write 'PROVIDER/MODEL', or {{'model': .., ..}}")
    if model.startswith(PROVIDER):
        raise SettingError(f"upstream {model!r:.60} is a vote itself: name an LLM")
    return {key: _resolved(value) for key, value in read.items()}


def _resolved(value: Any) -> Any:
    """A setting, read from the environment if it says so."""
    if not isinstance(value, str) or not value.startswith(IN_ENVIRONMENT):
        return value
    name = value.removeprefix(IN_ENVIRONMENT)
    if not os.environ.get(name):
        raise SettingError(f"the environment variable {name:.60} of {value!r:.60} is not set: set it")
    return os.environ[name]


class LiteLLMClient(Client):
    """Sends chat requests by `litellm.acompletion`; every failure is a TryError."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(Address(settings["model"], settings.get("api_key") or None))
        self.settings = settings

    async def request(self, *route_and_body: Any, **_: Any) -> Any:
        """Send a request for one sample, and return the reply as JSON."""
        body: bytes | tuple[bytes, ...] = route_and_body[-1]
        fields = json.loads(body if isinstance(body, bytes) else b"".join(body))
        token = VOTING.set(True)
        try:
            reply = await litellm.acompletion(**{**fields, **ONE_TRY, **self.settings})
            content = reply.model_dump(mode="json")
        except Exception as error:  # LiteLLM raises the errors of OpenAI's client, its providers' own, and others
            raise self._fault(error) from error
        finally:
            VOTING.reset(token)
        return content | {COST: (reply._hidden_params or {}).get("response_cost")}

    def _fault(self, error: Exception) -> TryError:
        status = getattr(error, "status_code", None)
        reason = self.address.masked(str(getattr(error, "message", error)) or type(error).__name__)
        if isinstance(error, litellm.Timeout):
            return LateError(reason)
        if isinstance(error, litellm.APIConnectionError):
            return GoneError(reason)
        if not isinstance(status, int):
            return TryError(reason)
        reason = f"HTTP {status}: {reason}"
        if status in BUSY:
            response = getattr(error, "response", None)
            return BusyError(reason, retry_after(getattr(response, "headers", None) or {}))
        if 400 <= status < 500 and status not in AGAIN:
            return RefusedError(reason, status)
        return StatusError(reason, status)


def source_of(name: str, settings: Settings) -> Source:
    """The upstream as a source of samples."""
    return Source(
        name, settings["model"], LiteLLMClient(settings), n=1, limit=MOST, secrets=Secrets(settings.get("api_key"))
    )
