"""A Llama small enough to read: one file for training, scoring and sampling."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from recipes.grid.config import Shape


class Layer(nn.Module):
    """Attention and a gated feed-forward, each added to what came in."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.sizes = [shape.heads * shape.head_width, *[shape.kv_heads * shape.head_width] * 2]
        self.attention_norm = nn.Parameter(torch.ones(shape.width))
        self.qkv = nn.Linear(shape.width, sum(self.sizes), bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.mlp_norm = nn.Parameter(torch.ones(shape.width))
        self.gate_up = nn.Linear(shape.width, 2 * shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys (both turned by their position) and values [..., heads, width]."""
        normed = functional.rms_norm(x, (self.shape.width,), self.attention_norm, self.shape.eps)
        parts = self.qkv(normed).split(self.sizes, -1)
        q, k, v = (part.unflatten(-1, (-1, self.shape.head_width)) for part in parts)
        return turn(q, cos, sin), turn(k, cos, sin), v

    def mlp(self, x: Tensor) -> Tensor:
        """Return what the feed-forward adds."""
        gate, up = self.gate_up(functional.rms_norm(x, (self.shape.width,), self.mlp_norm, self.shape.eps)).chunk(2, -1)
        added: Tensor = self.down(functional.silu(gate) * up)
        return added

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the layer's output, and the keys and values for a cache."""
        q, k, v = (part.transpose(1, 2) for part in self.project(x, cos, sin))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.mlp(x), k, v


class Llama(nn.Module):
    """Token ids in, hidden states out; the embedding is also the head."""

    def __init__(self, shape: Shape, vocabulary: int) -> None:
        super().__init__()
        self.shape = shape
        self.embed = nn.Embedding(vocabulary, shape.width)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = nn.Parameter(torch.ones(shape.width))

    def initialise(self, seed: int) -> Llama:
        """Draw fresh weights."""
        generator = torch.Generator().manual_seed(seed)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                deep = name.endswith(("out.weight", "down.weight"))
                std = 0.02 / (2 * self.shape.layers) ** 0.5 if deep else 0.02
                weight.data.normal_(0, std, generator=generator)
        return self

    def forward(self, ids: Tensor) -> Tensor:
        """Return hidden states [B, T, width]; padding on the right harms nothing before it."""
        x = self.embed(ids)
        cos, sin = angles(self.shape, ids.shape[1], x)
        for layer in self.layers:
            x = layer(x, cos[:, None], sin[:, None])[0]
        return self.normed(x)

    def normed(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, (self.shape.width,), self.norm, self.shape.eps)

    def logits(self, hidden: Tensor) -> Tensor:
        return hidden @ self.embed.weight.T


class Scorer(nn.Module):
    """A Llama that says one number a token: how likely the solution is right so far (a logit).

    With `surprise` the head also reads how unlikely the language model that the trunk was finds the
    tokens of the response: the least likely one so far, and the mean.
    """

    def __init__(self, trunk: Llama, surprise: bool = False) -> None:
        super().__init__()
        self.trunk, self.surprise = trunk, surprise
        self.head = nn.Linear(trunk.shape.width + 2 * surprise, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, begin: Tensor) -> Tensor:
        """Return logits [B, T]; `begin` [B] is where each response begins."""
        hidden = self.trunk(ids)
        if self.surprise:
            hidden = torch.cat([hidden, self._surprise(ids, hidden, begin).to(hidden.dtype)], -1)
        logits: Tensor = self.head(hidden).squeeze(-1)
        return logits

    def _surprise(self, ids: Tensor, hidden: Tensor, begin: Tensor) -> Tensor:
        """Return the least and the mean log-probability of the response's tokens so far [B, T, 2]."""
        known = torch.log_softmax(self.trunk.logits(hidden[:, :-1]).float(), -1).gather(2, ids[:, 1:, None])[..., 0]
        place = torch.arange(ids.shape[1], device=ids.device) - begin[:, None]
        likely = torch.where(place >= 0, functional.pad(known, (1, 0)), 0.0).clamp(min=-12)
        return torch.stack([likely.cummin(1).values, 10 * likely.cumsum(1) / (place + 1).clamp(min=1)], -1)


def angles(shape: Shape, length: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines of rotary positions [length, head width]."""
    steps = torch.arange(0, shape.head_width, 2, device=like.device).float() / shape.head_width
    angle = torch.outer(torch.arange(length, device=like.device).float(), shape.theta**-steps).repeat(1, 2)
    return angle.cos().to(like.dtype), angle.sin().to(like.dtype)


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate by position."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin
