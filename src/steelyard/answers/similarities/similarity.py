"""The interface of similarities: a number in [0, 1] for every two texts of a question, for votes on free text.

Similarities are multiples of 2^-16, computed in integers where texts are sets of features, so that votes are equal on
all machines. The similarities of a question depend on its own texts and prompt alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from hashlib import blake2b
from itertools import islice, pairwise
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.cores import usable_cores
from steelyard.foundation.errors import SettingError
from steelyard.foundation.registry import Registry, named_class, only_class

DEFAULT = "tokens"
MAX_FEATURES = 4096  # distinct features of one text; later ones are ignored
MAX_SCANNED = 1 << 16  # features of one text that are looked at to find the distinct ones
PART = 4096  # texts that are given to a thread at once, and more if one question has more
TOLERANCE = 1e-5  # rounding errors of another package
MAX_CODES, MAX_LENGTH = 1 << 16, 64  # cached codes of texts, and characters of each

Blocks = tuple[NDArray[np.float32], NDArray[np.int64]]


class Similarity(ABC):
    """A way to compare texts."""

    name: ClassVar[str]  # as the user types it
    summary: ClassVar[str]  # one line for `steelyard similarities`

    @abstractmethod
    def matrix(self, texts: Sequence[str], prompt: str | None) -> NDArray[np.float32]:
        """Return the similarities of all pairs of texts [n, n]: in [0, 1], symmetric, 1 on the diagonal."""


class FeatureSimilarity(Similarity):
    """Texts as sets of features, compared by |A & B| / |A | B| (jaccard) or 2 |A & B| / (|A| + |B|) (dice).

    Only the first 4,096 distinct features of a text count, and only among its first 65,536. A text without features has
    its spelling as its only feature: it is similar to equal texts alone.
    """

    formula: ClassVar[Literal["jaccard", "dice"]] = "jaccard"

    @abstractmethod
    def features(self, text: str, prompt: str | None) -> Iterable[int]:
        """Return the features of a text: signed integers of 64 bits, for example by `feature_codes`."""

    def matrix(self, texts: Sequence[str], prompt: str | None) -> NDArray[np.float32]:
        """Return the similarities of all pairs of texts [n, n]."""
        blocks, _ = similarity_blocks(self, texts, np.array([0, len(texts)]), [prompt])
        return blocks.reshape(len(texts), len(texts))

    def codes(self, text: str, prompt: str | None) -> NDArray[np.int64]:
        """Return the distinct features of a text that count, at least one."""
        features = dict.fromkeys(islice(self.features(text, prompt), MAX_SCANNED))
        if not features:
            return np.array([_digest(text, b"whole text")])
        try:
            return np.fromiter(islice(features, MAX_FEATURES), np.int64, min(len(features), MAX_FEATURES))
        except (OverflowError, TypeError, ValueError):
            raise SettingError(f"the similarity {self.name!r} has features that are not integers of 64 bits") from None


@cache
def registry() -> Registry[type[Similarity]]:
    """All similarities by name."""
    pick, wrong = only_class(Similarity), named_class(Similarity)  # type: ignore[type-abstract]

    def check(name: str, thing: object) -> str | None:
        summary = getattr(thing, "summary", None)
        return wrong(name, thing) or (None if isinstance(summary, str) else "its class must have a text `summary`")

    return Registry(
        "similarity",
        "steelyard.answers.similarities",
        Path(__file__).parent,
        pick,
        group="steelyard.similarities",
        shared=[Path(__file__).stem],
        check=check,
    )


def find_similarity(name: str) -> Similarity:
    """Return a similarity by its name.

    >>> find_similarity("tokens").matrix(["It is Paris.", "Paris", "Rome"], None)[0].tolist()
    [1.0, 1.0, 0.0]
    """
    return registry().get(name)()


def similarities() -> dict[str, str]:
    """Return what each similarity compares, by the NAME that `answers="free:NAME"` takes.

    >>> list(similarities())
    ['characters', 'column', 'cosine', 'json', 'judged', 'tokens']
    """
    return {name: registry().get(name).summary for name in registry().names}


def feature_codes(texts: Iterable[str]) -> Iterator[int]:
    """Return a feature for each text: a signed integer of 64 bits, the same in every process.

    >>> list(feature_codes(["paris"]))
    [1657316678316814225]
    """
    return map(_CODES.__getitem__, texts)


def similarity_blocks(
    similarity: Similarity,
    texts: Sequence[str],
    starts: NDArray[np.int64],
    prompts: Sequence[str | None] | None,
) -> Blocks:
    """Return the similarities of the texts of every question, and where the block of each question begins [Q].

    The distinct texts of question q are texts[starts[q]:starts[q+1]] and its prompt is prompts[q]. The blocks [n, n]
    are flattened row by row, one after the other.

    >>> tokens = find_similarity("tokens")
    >>> blocks, offsets = similarity_blocks(tokens, ["Rome", "in Rome", "Oslo"], np.array([0, 2, 3]), None)
    >>> blocks.tolist(), offsets.tolist()
    ([1.0, 1.0, 1.0, 1.0, 1.0], [0, 4])
    """
    starts = np.asarray(starts, np.int64)
    ends = np.cumsum(np.diff(starts) ** 2)
    offsets = ends - np.diff(starts) ** 2
    blocks = np.empty(ends[-1] if len(ends) else 0, np.float32)
    if isinstance(similarity, FeatureSimilarity):
        _fill(similarity, texts, starts, prompts, offsets, blocks)
        return blocks, offsets
    for q, (start, end) in enumerate(pairwise(starts.tolist())):
        matrix = similarity.matrix(texts[start:end], None if prompts is None else prompts[q])
        blocks[offsets[q] : ends[q]] = checked_matrix(similarity.name, matrix, end - start).ravel()
    return blocks, offsets


def _fill(
    similarity: FeatureSimilarity,
    texts: Sequence[str],
    starts: NDArray[np.int64],
    prompts: Sequence[str | None] | None,
    offsets: NDArray[np.int64],
    blocks: NDArray[np.float32],
) -> None:
    """Fill the blocks part by part: threads compare the texts of one part while the next one is read."""
    from steelyard.voting import kernels

    jobs: list[Future[None]] = []
    with ThreadPoolExecutor(usable_cores()) as executor:
        begin = 0
        while begin < len(starts) - 1:
            end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + PART, "right")) - 1)
            part = number_features(
                similarity, texts, starts[begin : end + 1], None if prompts is None else prompts[begin:end]
            )
            dice = similarity.formula == "dice"
            jobs.append(executor.submit(kernels.overlaps, *part, dice, kernels.read_only(offsets[begin:end]), blocks))
            begin = end
        for job in jobs:
            job.result()


def number_features(
    similarity: FeatureSimilarity, texts: Sequence[str], starts: NDArray[np.int64], prompts: Sequence[str | None] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Number the features of each question for `kernels.overlaps`: its first four arguments."""
    from steelyard.voting.kernels import read_only

    sizes, width, numbers = [0], [], [np.zeros(0, np.int32)]
    for q in range(len(starts) - 1):
        prompt = None if prompts is None else prompts[q]
        codes = [similarity.codes(texts[t], prompt) for t in range(starts[q], starts[q + 1])]
        distinct, number = np.unique(np.concatenate([np.zeros(0, np.int64), *codes]), return_inverse=True)
        sizes += map(len, codes)
        width.append(len(distinct))
        numbers.append(number.astype(np.int32))
    begins = np.cumsum(sizes, dtype=np.int64)
    return (
        read_only(starts - starts[0]),
        read_only(begins),
        read_only(np.array(width, np.int64)),
        read_only(np.concatenate(numbers)),
    )


def checked_matrix(name: str, matrix: NDArray[np.float32], n: int) -> NDArray[np.float32]:
    """Check and round a matrix, which may come from another package."""
    from steelyard.voting.kernels.feature_overlaps import STEPS

    values = np.asarray(matrix, np.float64)
    if values.shape != (n, n):
        raise SettingError(f"the similarity {name!r} returned an array of shape {values.shape} for {n} texts")
    if not (np.abs(values - 0.5) <= 0.5 + TOLERANCE).all():
        raise SettingError(f"the similarity {name!r} returned a value that is not in [0, 1]")
    if (np.abs(values - values.T) > TOLERANCE).any() or (values.diagonal() < 1 - TOLERANCE).any():
        raise SettingError(f"the similarity {name!r} returned a matrix that is not symmetric with 1 on its diagonal")
    rounded = np.rint((values + values.T) * (STEPS / 2)) / STEPS
    return np.clip(rounded, 0, 1).astype(np.float32)


def _digest(text: str, person: bytes = b"") -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, person=person).digest()
    return int.from_bytes(digest, "little", signed=True)


class _Codes(dict[str, int]):
    """The codes of short texts seen lately: a look-up takes a tenth of the time of a digest."""

    def __missing__(self, text: str) -> int:
        code = _digest(text)
        if len(text) <= MAX_LENGTH:
            if len(self) >= MAX_CODES:
                self.clear()
            self[text] = code
        return code


_CODES = _Codes()
