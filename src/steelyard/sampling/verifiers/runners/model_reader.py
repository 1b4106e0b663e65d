"""Runs batches through a reward model, its trunk and its head.

On a GPU a batch is launched before the last one is done, and halved if the memory is too small for it. The head turns
the hidden state of a token into its numbers:

- token-head   score.0 (Linear), ReLU, score.2 (Linear, 2 outputs)
- value-head   v_head.summary (Linear, 1 output)
- words        the rows of the language model's output matrix that belong to the protocol's two words

Heads are read from safetensors. No code of a model is executed: no remote code, no pickles.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.foundation.errors import SteelyardWarning, VerifierError
from steelyard.sampling.verifiers.protocol import TOKEN_HEAD, VALUE_HEAD, Array, Rendered, TokenProtocol
from steelyard.sampling.verifiers.runners.packed_attention import arguments, use_packs
from steelyard.sampling.verifiers.runners.packing import Branch, batches, packed, packs, padded
from steelyard.sampling.verifiers.tokens import Tokens

if TYPE_CHECKING:
    import torch

    Head = Callable[[torch.Tensor], torch.Tensor]  # (positions, hidden) -> (positions, columns)

Rows: TypeAlias = list[Array | str]  # the outputs at the positions of each response, or why there are none
AFTER = 2**20  # tokens read before compiling, which take 7B parameters 27 s


class ModelReader:
    """A trunk and its head on one device: read in packs where that is possible, else in batches by length."""

    def __init__(self, trunk: Any, head: Head, context: int, budget: int) -> None:
        self.head = head
        self.device = next(trunk.parameters()).device
        self.on_gpu = self.device.type == "cuda"
        self.packed = use_packs(trunk, context)
        self.trunk = CompiledLayers(trunk, enabled=self.packed and self.on_gpu)
        self.budget = budget  # tokens a batch
        self.ahead = 2 if self.on_gpu else 0  # batches launched before the first of them is awaited
        self._warned = False

    def batches(self, some: Sequence[Branch]) -> list[list[int]]:
        """The indices of the responses of each batch."""
        if self.packed:
            return list(packs(some, self.budget))
        return list(batches([branch.end for branch in some], self.budget))

    def launch(self, batch: Sequence[Branch]) -> Callable[[], Rows]:
        """Have a batch read, in parts where memory is short; the function returned waits for its outputs."""
        import torch

        inputs, positions = self._inputs(batch)
        tokens = inputs["input_ids"].numel()
        if tokens <= self.budget or len(batch) == 1:
            try:
                return self._launched(batch, inputs, positions)
            except torch.OutOfMemoryError:
                pass  # continue outside, where the tensors of this attempt are freed
            torch.cuda.empty_cache()
            if len(batch) == 1:
                return lambda: [f"the GPU has too little memory for {tokens} tokens at once: give a smaller --context"]
            self._halve(tokens)
        parts = [self.launch([batch[i] for i in part]) for part in self.batches(batch)]
        return lambda: [row for part in parts for row in part()]

    def _halve(self, tokens: int) -> None:
        self.budget = tokens // 2
        if not self._warned:
            self._warned = True
            text = f"the GPU has too little memory for {tokens} tokens at once: batches are halved from here on"
            warnings.warn(text, SteelyardWarning, stacklevel=2)

    def _inputs(self, batch: Sequence[Branch]) -> tuple[dict[str, Any], Any]:
        """What the trunk is called with, and the tokens that are read of all it returns (None: all), on the CPU."""
        import torch

        if self.packed:
            return arguments(packed(batch)), None
        ids, read = padded([Rendered(branch.rendered.ids[: branch.end], branch.rendered.positions) for branch in batch])
        return {"input_ids": torch.from_numpy(ids)}, torch.from_numpy(read)

    def _launched(self, batch: Sequence[Branch], inputs: dict[str, Any], positions: Any) -> Callable[[], Rows]:
        import torch

        with torch.inference_mode():
            on_device = {name: self._sent(value) if torch.is_tensor(value) else value for name, value in inputs.items()}
            hidden = self.trunk(**on_device).flatten(0, 1)
            hidden = hidden if positions is None else hidden.index_select(0, self._sent(positions))
            outputs = self.head(hidden.float()).double()
            on_host = torch.empty(outputs.shape, dtype=outputs.dtype, pin_memory=self.on_gpu)
            on_host.copy_(outputs, non_blocking=True)
        done = torch.cuda.Event() if self.on_gpu else None
        if done is not None:
            done.record()
        cuts = np.cumsum([len(branch.rendered.positions) for branch in batch])[:-1]

        def rows() -> Rows:
            if done is not None:
                done.synchronize()
            return list(np.split(on_host.numpy(), cuts))

        return rows

    def _sent(self, tensor: Any) -> Any:
        """Copied to the GPU while it works on something else."""
        return tensor.pin_memory().to(self.device, non_blocking=True) if self.on_gpu else tensor


class CompiledLayers:
    """Calls a trunk whose layers torch compiles once enough was read to win back the seconds that this takes.

    All layers are the same code, so one of them is compiled and serves all. The gain is in the small steps between the
    matrix products (norms, rotations, activations): a fifth of the time of 7B parameters on one H200. The kernels of
    flash-attn-4 begin at the same time. Where compiling fails, the trunk stays as it is.
    """

    def __init__(self, trunk: Any, *, enabled: bool, after: int = AFTER) -> None:
        self.trunk = trunk
        self.left: float = after if enabled else float("inf")  # tokens until it is compiled
        self.on = False
        self.fuse = True  # use the kernels of fused_layers.py, where they work
        self._unfuse: Callable[[], None] = lambda: None

    def __call__(self, **inputs: Any) -> Any:
        """The hidden states of all tokens."""
        import torch

        self.left -= inputs["input_ids"].numel()
        if self.left < 0 and not self.on:
            self._compile()
        try:
            return self.trunk(**inputs, use_cache=False).last_hidden_state
        except torch.OutOfMemoryError:
            raise
        except Exception:
            if not self.on:
                raise
            self._undo()  # no compiler on this machine, or none that can do it
            return self.trunk(**inputs, use_cache=False).last_hidden_state

    def _compile(self) -> None:
        from steelyard.sampling.verifiers.runners.fused_layers import fuse

        self.on = True
        if self.fuse:
            self._unfuse = fuse(self.trunk)
        for layer in self.trunk.layers:
            layer.compile(dynamic=True)

    def _undo(self) -> None:
        self.on, self.left = False, float("inf")
        for layer in self.trunk.layers:
            layer._compiled_call_impl = None
        self._unfuse()


def load_head(protocol: TokenProtocol, folder: Path, tokens: Tokens, device: Any) -> Head:
    """The head of a model, in float32."""
    from torch.nn.functional import linear, relu

    def weight(name: str) -> torch.Tensor:
        return tensor(folder, name).float().to(device)

    if protocol.head == TOKEN_HEAD:
        first, bias, second, offset = map(weight, ("score.0.weight", "score.0.bias", "score.2.weight", "score.2.bias"))
        return lambda hidden: linear(relu(linear(hidden, first, bias)), second, offset)
    if protocol.head == VALUE_HEAD:
        value, shift = weight("v_head.summary.weight"), weight("v_head.summary.bias")
        return lambda hidden: linear(hidden, value, shift)
    rows = tensor(folder, _output_matrix(folder), [tokens.one(word) for word in protocol.words]).float().to(device)
    return lambda hidden: linear(hidden, rows)


def tensor(folder: Path, name: str, rows: list[int] | None = None) -> torch.Tensor:
    """One tensor of a checkpoint, or some of its rows."""
    import torch
    from safetensors import safe_open

    file = _files(folder).get(name)
    if file is None:
        raise VerifierError(f"{folder} has no tensor {name!r}: it contains a different kind of model; check --model")
    with safe_open(file, framework="pt") as content:
        if rows is None:
            full: torch.Tensor = content.get_tensor(name)
            return full
        part = content.get_slice(name)
        return torch.cat([part[row : row + 1] for row in rows])


def _output_matrix(folder: Path) -> str:
    return "lm_head.weight" if "lm_head.weight" in _files(folder) else "model.embed_tokens.weight"


def _files(folder: Path) -> dict[str, Path]:
    """The file of every tensor of a checkpoint."""
    from safetensors import safe_open

    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return {name: folder / Path(file).name for name, file in json.loads(index.read_text())["weight_map"].items()}
    files: dict[str, Path] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as content:
            files |= dict.fromkeys(content.keys(), file)
    if not files:
        raise VerifierError(
            f"{folder} has no .safetensors files: other weights (.bin) can hold code and are not read; convert them "
            "with safetensors' convert tool"
        )
    return files
