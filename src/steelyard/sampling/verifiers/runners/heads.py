"""The small part of a reward model that turns a token's hidden state into its numbers, read from safetensors.

Nothing a model brings is executed: no remote code, no pickles. The heads are

- token-head   score.0 (Linear), ReLU, score.2 (Linear, 2 outputs)
- value-head   v_head.summary (Linear, 1 output)
- words        the rows of the language model's output matrix that belong to the protocol's two words
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.verifiers.protocol import TOKEN_HEAD, VALUE_HEAD, TokenProtocol
from steelyard.sampling.verifiers.tokens import Tokens

if TYPE_CHECKING:
    import torch

    Head = Callable[[torch.Tensor], torch.Tensor]  # (positions, hidden) -> (positions, columns)


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
        raise VerifierError(f"{folder} has no tensor {name!r}: it holds another kind of model; check --model")
    with safe_open(file, framework="pt") as content:
        if rows is None:
            whole: torch.Tensor = content.get_tensor(name)
            return whole
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
    found: dict[str, Path] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as content:
            found |= dict.fromkeys(content.keys(), file)
    if not found:
        raise VerifierError(
            f"{folder} has no .safetensors files: other weights (.bin) can hold code and are not read; convert them "
            "with safetensors' convert tool"
        )
    return found
