"""Continuous batching: a fixed number of slots, one CUDA graph a decoding step, slots refilled as they finish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from recipes.grid.config import Sizes
from recipes.grid.model import Llama, angles
from recipes.grid.training import device, padded, precision

CHUNK = 16  # steps between looks at what has finished
BUCKET = 64  # attention reads the cache in multiples of this
CANDIDATES = 64  # the nucleus is sought among the likeliest tokens


@dataclass(frozen=True)
class Response:
    """One generated response, without its end token."""

    ids: NDArray[np.uint16]
    finished: bool
    logprob: float  # mean over its tokens and the end token, at temperature 1


class Sampler:
    """Draws responses from one model."""

    def __init__(self, model: Llama, sizes: Sizes, end: int) -> None:
        self.model = model.to(device(), precision()).eval()
        self.sizes, self.end, shape = sizes, end, model.shape
        slots = sizes.slots
        room = (len(model.layers), slots, shape.kv_heads, sizes.context, shape.head_width)
        self.keys = torch.zeros(room, device=device(), dtype=precision())
        self.values = torch.zeros_like(self.keys)
        self.cos, self.sin = angles(shape, sizes.context, self.keys)
        self.token = torch.zeros(slots, dtype=torch.long, device=device())
        self.position = torch.zeros_like(self.token)
        self.logprob = torch.zeros(slots, device=device())
        self.slot = torch.arange(slots, device=device())
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}

    @torch.inference_mode()
    def generate(self, prompts: Sequence[NDArray[np.uint16]], copies: int) -> list[list[Response]]:
        """Return `copies` responses to each prompt."""
        sizes, slots = self.sizes, self.sizes.slots
        jobs = np.repeat(np.argsort([len(p) for p in prompts], kind="stable"), copies)
        tokens = np.zeros((len(jobs), sizes.longest + CHUNK), np.uint16)
        logprobs = np.zeros(tokens.shape, np.float32)
        made = np.zeros(len(jobs), np.int64)
        finished = np.zeros(len(jobs), bool)
        owner = np.full(slots, -1)
        length = np.zeros(slots, np.int64)
        next_job = 0
        while True:
            free = np.flatnonzero(owner < 0)[: len(jobs) - next_job]
            for part in np.array_split(free, max(1, -(-len(free) // 1024))):
                if len(part):
                    mine = np.arange(next_job, next_job + len(part))
                    next_job += len(part)
                    length[part] = self._prefill(part, [prompts[jobs[j]] for j in mine], jobs[mine])
                    owner[part] = mine
            active = np.flatnonzero(owner >= 0)
            if not len(active):
                break
            reach = min(sizes.context, -(-(int(length[active].max()) + CHUNK) // BUCKET) * BUCKET)
            new_tokens, new_logprobs = self._chunk(reach)
            mine, chunk = owner[active], new_tokens[:, active].T
            at = made[mine][:, None] + np.arange(CHUNK)
            tokens[mine[:, None], at] = chunk
            logprobs[mine[:, None], at] = new_logprobs[:, active].T
            ended = chunk == self.end
            first = np.where(ended.any(1), ended.argmax(1) + 1, CHUNK)
            made[mine] = np.minimum(made[mine] + first, sizes.longest)
            finished[mine] = ended.any(1) & (tokens[mine, made[mine] - 1] == self.end)
            length[active] += CHUNK
            over = ended.any(1) | (made[mine] >= sizes.longest) | (length[active] + CHUNK >= sizes.context)
            owner[active[over]] = -1
        responses: list[list[Response]] = [[] for _ in prompts]
        for j, prompt in enumerate(jobs):
            ids, done = tokens[j, : made[j]], bool(finished[j])
            mean = float(logprobs[j, : made[j]].mean()) if made[j] else -10.0
            responses[prompt].append(Response(ids[:-1].copy() if done else ids.copy(), done, mean))
        return responses

    def _prefill(
        self, slots: NDArray[np.int64], prompts: list[NDArray[np.uint16]], which: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Fill the slots' caches with all but the last prompt token; equal prompts are read once."""
        _, first, copy_of = np.unique(which, return_index=True, return_inverse=True)
        ids = padded([prompts[i][:-1] for i in first], 0, torch.long)
        at, source = torch.from_numpy(slots).to(device()), torch.from_numpy(copy_of).to(device())
        width = ids.shape[1]
        x = self.model.embed(ids)
        for i, layer in enumerate(self.model.layers):
            x, k, v = layer(x, self.cos[:width, None], self.sin[:width, None])
            self.keys[i][at, :, :width] = k[source]
            self.values[i][at, :, :width] = v[source]
        lengths = np.array([len(p) for p in prompts])
        self.token[at] = torch.tensor([int(p[-1]) for p in prompts], device=device())
        self.position[at] = torch.from_numpy(lengths - 1).to(device())
        return lengths

    def _chunk(self, reach: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Decode CHUNK tokens in every slot."""
        self.position.clamp_(max=self.sizes.context - CHUNK - 1)
        tokens, logprobs = [], []
        for _ in range(CHUNK):
            self._step(reach)
            tokens.append(self.token.clone())
            logprobs.append(self.logprob.clone())
        return torch.stack(tokens).cpu().numpy(), torch.stack(logprobs).cpu().numpy()

    def _step(self, reach: int) -> None:
        if device().type == "cpu":
            self._decode(reach)
            return
        if reach not in self.graphs:
            saved = self.token.clone(), self.position.clone()
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._decode(reach)
            torch.cuda.current_stream().wait_stream(stream)
            self.token.copy_(saved[0])
            self.position.copy_(saved[1])
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self._decode(reach)
            self.graphs[reach] = graph
        self.graphs[reach].replay()

    def _decode(self, reach: int) -> None:
        """Feed every slot its token, draw the next, move on by one position."""
        shape, model = self.model.shape, self.model
        x = model.embed(self.token)
        cos, sin = self.cos[self.position][:, None], self.sin[self.position][:, None]
        seen = (torch.arange(reach, device=device()) <= self.position[:, None])[:, None, None]
        for i, layer in enumerate(model.layers):
            q, k, v = layer.project(x, cos, sin)
            self.keys[i][self.slot, :, self.position] = k
            self.values[i][self.slot, :, self.position] = v
            q = q.unflatten(1, (shape.kv_heads, -1))  # the queries that share a key, as if they were a sequence
            mixed = functional.scaled_dot_product_attention(
                q, self.keys[i][:, :, :reach], self.values[i][:, :, :reach], attn_mask=seen
            )
            x = x + layer.out(mixed.flatten(1))
            x = x + layer.mlp(x)
        token, logprob = draw(model.logits(model.normed(x)).float(), self.sizes.temperature, self.sizes.top_p)
        self.token.copy_(token)
        self.logprob.copy_(logprob)
        self.position.add_(1)


def draw(logits: Tensor, temperature: float, top_p: float) -> tuple[Tensor, Tensor]:
    """Draw a token by temperature and nucleus; return it and its log-probability at temperature 1."""
    values, tokens = logits.topk(min(CANDIDATES, logits.shape[-1]), -1)
    share = torch.exp(values / temperature - torch.logsumexp(logits / temperature, -1, keepdim=True))
    share = torch.where(share.cumsum(-1) - share < top_p, share, torch.zeros_like(share))
    noise = -torch.log(-torch.log(torch.rand_like(share).clamp(1e-10, 1 - 1e-7)))
    choice = (share.log() + noise).argmax(-1, keepdim=True)
    logprob = values.gather(1, choice)[:, 0] - torch.logsumexp(logits, -1)
    return tokens.gather(1, choice)[:, 0], logprob
