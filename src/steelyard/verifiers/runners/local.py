"""A process reward model in this process: torch and transformers, batches by length, one forward pass a response."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import VerifierError
from steelyard.verifiers.context_window import Fitted, fit_or_reason
from steelyard.verifiers.protocol import Array, Rendered, TokenProtocol
from steelyard.verifiers.runners.length_batches import BUDGET, WINDOW, batches
from steelyard.verifiers.runners.model_folders import model_folder
from steelyard.verifiers.scored_items import Item, Results, checked
from steelyard.verifiers.tokens import INSTALL, Tokens

if TYPE_CHECKING:
    from steelyard.verifiers.runners.heads import Head


class Local:
    """A loaded model. bf16 on a GPU, float32 elsewhere; only the positions that are read meet the head."""

    def __init__(
        self, protocol: TokenProtocol, model: str, *, context: int | None = None, budget: int = BUDGET
    ) -> None:
        torch = _torch()
        folder = model_folder(model)
        self.protocol = protocol
        self.tokens = Tokens.load(folder)
        self.tokens.check(protocol.needs)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        self.trunk = _trunk(folder, self.dtype).to(self.device).eval()
        self.head: Head = _head(protocol, folder, self.tokens, self.device)
        seen = getattr(self.trunk.config, "max_position_embeddings", protocol.context)
        self.context = min(context or protocol.context, seen)
        self.budget = budget
        self.found = {"where": "local", "device": str(self.device), "dtype": str(self.dtype).removeprefix("torch.")}

    async def score(self, items: Iterator[Item]) -> Results:
        """Score items as they come, a window at a time, the longest of a window first."""
        while window := list(islice(items, WINDOW)):
            tried = await asyncio.to_thread(self._fit, window)
            for item, reason in tried:
                if isinstance(reason, str):
                    yield item, reason
            fitted = [(item, fit) for item, fit in tried if isinstance(fit, Fitted)]
            for batch in batches([len(fit.rendered.ids) for _, fit in fitted], self.budget):
                rows = await asyncio.to_thread(self.forward, [fitted[i][1].rendered for i in batch])
                for i, outputs in zip(batch, rows, strict=True):
                    item, fit = fitted[i]
                    yield item, checked(self.protocol.read(outputs, range(len(outputs))), fit.truncated)

    async def close(self) -> None:
        """Nothing to close."""

    def forward(self, batch: Sequence[Rendered]) -> list[Array]:
        """The outputs at the positions of each response: right padding, causal, so padding changes nothing."""
        import torch

        longest = max(len(rendered.ids) for rendered in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for i, rendered in enumerate(batch):
            ids[i, : len(rendered.ids)] = torch.tensor(rendered.ids)
            mask[i, : len(rendered.ids)] = 1
        row = [i for i, rendered in enumerate(batch) for _ in rendered.positions]
        column = [position for rendered in batch for position in rendered.positions]
        with torch.inference_mode():
            seen = self.trunk(input_ids=ids.to(self.device), attention_mask=mask.to(self.device), use_cache=False)
            outputs = self.head(seen.last_hidden_state[row, column].float()).double().cpu().numpy()
        return np.split(outputs, np.cumsum([len(rendered.positions) for rendered in batch])[:-1])

    def _fit(self, window: Sequence[Item]) -> list[tuple[Item, Fitted | str]]:
        return [(item, fit_or_reason(self.protocol, item, self.tokens, self.context)) for item in window]


def _trunk(folder: Any, dtype: Any) -> Any:
    """The model without its head, from safetensors, without running code that came with it."""
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


def _head(protocol: TokenProtocol, folder: Any, tokens: Tokens, device: Any) -> Any:
    from steelyard.verifiers.runners.heads import load_head

    return load_head(protocol, folder, tokens, device)


def _torch() -> Any:
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError:
        raise VerifierError(f"--local needs torch and transformers: {INSTALL}") from None
    return torch
