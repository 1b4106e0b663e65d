"""Batches through a model: on a GPU launched before the last one is done, halved where its memory ends."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.foundation.errors import SteelyardWarning
from steelyard.sampling.verifiers.protocol import Array, Rendered
from steelyard.sampling.verifiers.runners.compiled_layers import CompiledLayers
from steelyard.sampling.verifiers.runners.length_batches import batches, padded
from steelyard.sampling.verifiers.runners.packed_attention import arguments, use_packs
from steelyard.sampling.verifiers.runners.packing import Branch, packed, packs

if TYPE_CHECKING:
    from steelyard.sampling.verifiers.runners.heads import Head

Rows: TypeAlias = list[Array | str]  # the outputs at the positions of each response, or why there are none


class ModelReader:
    """A trunk and its head on one device: read in packs where that is possible, else in batches by length."""

    def __init__(self, trunk: Any, head: Head, context: int, budget: int) -> None:
        self.head = head
        self.device = next(trunk.parameters()).device
        self.on_gpu = self.device.type == "cuda"
        self.packed = use_packs(trunk, context)
        self.trunk = CompiledLayers(trunk, wanted=self.packed and self.on_gpu)
        self.budget = budget  # tokens a batch
        self.ahead = 2 if self.on_gpu else 0  # batches launched before the first of them is waited for
        self._said = False

    def batches(self, some: Sequence[Branch]) -> list[list[int]]:
        """The indices of the responses of each batch."""
        if self.packed:
            return list(packs(some, self.budget))
        return list(batches([branch.end for branch in some], self.budget))

    def launch(self, batch: Sequence[Branch]) -> Callable[[], Rows]:
        """Have a batch read, in parts where memory is short; the function returned waits for its outputs."""
        import torch

        inputs, places = self._inputs(batch)
        tokens = inputs["input_ids"].numel()
        if tokens <= self.budget or len(batch) == 1:
            try:
                return self._launched(batch, inputs, places)
            except torch.OutOfMemoryError:
                pass  # go on where the tensors of this attempt are gone
            torch.cuda.empty_cache()
            if len(batch) == 1:
                return lambda: [f"the GPU has too little memory for {tokens} tokens at once: give a smaller --context"]
            self._halve(tokens)
        parts = [self.launch([batch[i] for i in part]) for part in self.batches(batch)]
        return lambda: [row for part in parts for row in part()]

    def _halve(self, tokens: int) -> None:
        self.budget = tokens // 2
        if not self._said:
            self._said = True
            text = f"the GPU has too little memory for {tokens} tokens at once: batches are halved from here on"
            warnings.warn(text, SteelyardWarning, stacklevel=2)

    def _inputs(self, batch: Sequence[Branch]) -> tuple[dict[str, Any], Any]:
        """What the trunk is called with, and the tokens that are read of all it returns, on the CPU."""
        import torch

        if self.packed:
            pack = packed(batch)
            return arguments(pack), torch.from_numpy(pack.read)
        ids, read = padded([Rendered(branch.rendered.ids[: branch.end], branch.rendered.positions) for branch in batch])
        return {"input_ids": torch.from_numpy(ids)}, torch.from_numpy(read)

    def _launched(self, batch: Sequence[Branch], inputs: dict[str, Any], places: Any) -> Callable[[], Rows]:
        import torch

        with torch.inference_mode():
            there = {name: self._sent(each) if torch.is_tensor(each) else each for name, each in inputs.items()}
            hidden = self.trunk(**there).flatten(0, 1).index_select(0, self._sent(places))
            outputs = self.head(hidden.float()).double()
            here = torch.empty(outputs.shape, dtype=outputs.dtype, pin_memory=self.on_gpu)
            here.copy_(outputs, non_blocking=True)
        done = torch.cuda.Event() if self.on_gpu else None
        if done is not None:
            done.record()
        cuts = np.cumsum([len(branch.rendered.positions) for branch in batch])[:-1]

        def rows() -> Rows:
            if done is not None:
                done.synchronize()
            return list(np.split(here.numpy(), cuts))

        return rows

    def _sent(self, tensor: Any) -> Any:
        """Copied to the GPU while it works on something else."""
        return tensor.pin_memory().to(self.device, non_blocking=True) if self.on_gpu else tensor
