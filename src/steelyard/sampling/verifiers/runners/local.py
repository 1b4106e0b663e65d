"""A process reward model in this process, by torch and transformers: one forward pass per response."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.context_window import Fitted, fit_or_reason
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.runners.model_reader import ModelReader, Rows, load_head
from steelyard.sampling.verifiers.runners.packing import BUDGET, Branch, branches, windows
from steelyard.sampling.verifiers.scored_items import Item, Results, Scores, checked
from steelyard.sampling.verifiers.tokens import INSTALL, Tokens, model_folder

GPU_BUDGETS = (2 * BUDGET, 6 * BUDGET)  # tokens a batch on a GPU: at least, at most
Raw = TypeVar("Raw")
Ready = TypeVar("Ready")


@dataclass(frozen=True)
class Window:
    """Responses that are ready to be scored, and those that cannot be, with the reason."""

    fitted: list[tuple[Item, Fitted]]
    branches: list[Branch]
    refused: list[tuple[Item, str]]


class Local:
    """A loaded model. bf16 on a GPU, float32 elsewhere; the head is applied only at the positions that are read."""

    def __init__(
        self, protocol: TokenProtocol, model: str, *, context: int | None = None, budget: int | None = None
    ) -> None:
        torch = _torch()
        folder = model_folder(model)
        self.protocol = protocol
        self.tokens = Tokens.load(folder)
        self.tokens.check(protocol.needs)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        trunk = _trunk(folder, dtype).to(device).eval()
        seen = getattr(trunk.config, "max_position_embeddings", protocol.context)
        self.context = min(context or protocol.context, seen)
        head = load_head(protocol, folder, self.tokens, device)
        tokens = budget or (gpu_budget(trunk.config, torch.cuda.mem_get_info()[0]) if device.type == "cuda" else BUDGET)
        self.reader = ModelReader(trunk, head, self.context, tokens)
        self.detected = {
            "where": "local",
            "device": str(device),
            "dtype": str(dtype).removeprefix("torch."),
            "batches": "packed" if self.reader.packed else "padded",
        }

    async def score(self, items: Iterator[Item]) -> Results:
        """Score items, a window at a time; the next one is prepared while this one is scored."""
        under_way: deque[tuple[Window, list[int], Callable[[], Rows]]] = deque()
        async with aclosing(ahead(windows(items), self._prepare)) as prepared:
            async for window in prepared:
                for refused in window.refused:
                    yield refused
                for batch in self.reader.batches(window.branches):
                    some = [window.branches[i] for i in batch]
                    under_way.append((window, batch, await asyncio.to_thread(self.reader.launch, some)))
                    while len(under_way) > self.reader.ahead:
                        for result in await self._results(*under_way.popleft()):
                            yield result
        while under_way:
            for result in await self._results(*under_way.popleft()):
                yield result

    async def close(self) -> None:
        """Nothing to close."""

    async def _results(
        self, window: Window, batch: Sequence[int], outputs: Callable[[], Rows]
    ) -> list[tuple[Item, Scores | str]]:
        rows = await asyncio.to_thread(outputs)
        return [(window.fitted[i][0], self._read(row, window.fitted[i][1])) for i, row in zip(batch, rows, strict=True)]

    def _read(self, row: Any, fit: Fitted) -> Scores | str:
        if isinstance(row, str):
            return row
        return checked(self.protocol.read(row, range(len(row))), fit.truncated)

    def _prepare(self, window: Sequence[Item]) -> Window:
        tried = [(item, fit_or_reason(self.protocol, item, self.tokens, self.context)) for item in window]
        fitted = [(item, fit) for item, fit in tried if isinstance(fit, Fitted)]
        questions = [(item.question, fit.truncated) for item, fit in fitted]  # a cut question may be another prefix
        made = branches([fit.rendered for _, fit in fitted], questions)
        return Window(fitted, made, [(item, reason) for item, reason in tried if isinstance(reason, str)])


def gpu_budget(config: Any, free: int) -> int:
    """How many tokens a batch may have on a GPU with so many free bytes: so many that they take a quarter of these.

    A layer holds a few vectors of each size for a token at a time, in bf16. The largest array has fewer than 2^31
    numbers: with more, the layers would be compiled again, for longer indices.
    """
    token = 2 * (4 * config.intermediate_size + 12 * config.hidden_size)
    least, most = GPU_BUDGETS
    return int(min(max(free // 4 // token, least), most, (2**31 - 1) // config.intermediate_size))


def _trunk(folder: Any, dtype: Any) -> Any:
    """The model without its head, from safetensors, without running code of its repository."""
    from transformers import AutoModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        trunk, loaded = AutoModel.from_pretrained(
            folder, dtype=dtype, trust_remote_code=False, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise VerifierError(f"cannot load {folder}: {reason}; it must be a folder with .safetensors") from None
    if missing := sorted(loaded["missing_keys"]):
        raise VerifierError(f"cannot load {folder}: {len(missing)} tensors are missing, {missing[0]} among them")
    return trunk


def _torch() -> Any:
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError:
        raise VerifierError(f"--local needs torch and transformers: {INSTALL}") from None
    return torch


async def ahead(raw: Iterator[Raw], prepare: Callable[[Raw], Ready]) -> AsyncGenerator[Ready, None]:
    """Yield everything prepared, in order, one ahead in another thread; `raw` is read in the thread of the caller."""

    def begin() -> asyncio.Task[Ready] | None:
        for item in raw:
            return asyncio.create_task(asyncio.to_thread(prepare, item))
        return None

    under_way = begin()
    try:
        while under_way is not None:
            ready = await under_way
            under_way = begin()
            yield ready
    finally:
        if under_way is not None:
            under_way.cancel()
