"""The layers of a model compiled by torch, once so much was read that the seconds of compiling are won back.

All layers are the same code, so one of them is compiled and serves all. What is left to win are the small steps between
the matrix products (norms, rotations, activations): a fifth of the time of 7B parameters on one H200.
"""

from __future__ import annotations

from typing import Any

AFTER = 2**20  # tokens read before, which take 7B parameters 27 s


class CompiledLayers:
    """Calls a trunk, compiled from some point on; where compiling fails it stays as it is."""

    def __init__(self, trunk: Any, *, wanted: bool, after: int = AFTER) -> None:
        self.trunk = trunk
        self.left: float = after if wanted else float("inf")  # tokens until it is compiled
        self.on = False

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
        self.on = True
        for layer in self.trunk.layers:
            layer.compile(dynamic=True)

    def _undo(self) -> None:
        self.on, self.left = False, float("inf")
        for layer in self.trunk.layers:
            layer._compiled_call_impl = None
