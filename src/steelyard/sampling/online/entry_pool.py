"""The samples of one question as a pool, as `read` would make it: answers grouped, in the order of the samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from steelyard.answers.grouping import simple_keys
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import ColumnError
from steelyard.sampling.online.cascade_walk import Entry
from steelyard.sampling.online.similar_texts import SimilarTexts
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.similarity import Similarity

QUESTION = pl.Series("question", ["ballot"])
FIRST = np.zeros(1, np.int64)


class EntryPool:
    """Groups the answers of one question, incrementally."""

    def __init__(self, method: Method, reader: AnswerReader, prompt: str | SimilarTexts | None = None) -> None:
        """Free text is compared without the words of the `prompt`, or as the `SimilarTexts` of this question does."""
        self.method, self.reader = method, reader
        self.texts: SimilarTexts | None = None
        if reader.kind.similarity is not None:
            self.texts = prompt if isinstance(prompt, SimilarTexts) else SimilarTexts(reader.kind, prompt)
        self.codes: dict[str | None, int] = {None: -1}  # by text, of those grouped
        self.names: list[str] = []  # by code
        self._crowded = False  # whether pairs of answers were left undecided

    def group(self, entries: Sequence[Entry]) -> None:
        """Number the answers in the order in which they were first seen, if any is new.

        A new text may join two others. If there are more undecided pairs than are compared, those with most votes come
        first, so every vote may matter.
        """
        if not self._crowded and all(text in self.codes for text, _, _ in entries):
            return
        votes = Counter(text for text, _, _ in entries if text is not None)
        texts = list(votes)
        keys = simple_keys(texts, self.reader.kind)
        if keys is None:
            keys = self._compared(votes)
        numbers: dict[str, int] = {}
        codes = [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys]
        self.codes = {None: -1, **dict(zip(texts, codes, strict=True))}
        names = [texts[codes.index(code)] for code in range(len(numbers))]
        if any(name != name.strip() for name in names):  # as a table's are: Python strips more than polars does
            names = pl.Series("answer", names, pl.String).str.strip_chars().to_list()
        self.names = names

    def _compared(self, votes: Counter[str]) -> list[str | None]:
        """The keys of answers that have to be compared with each other."""
        texts, before = pl.Series("answer", list(votes), pl.String), self.reader.undecided
        question = np.zeros(len(texts), np.int64)
        keys = self.reader.keys(texts, question, lambda: np.array(list(votes.values()))).to_list()
        self._crowded = self.reader.undecided > before
        return keys

    def pool(self, entries: Sequence[Entry]) -> Pool:
        """The samples as a pool; their answers must have been grouped."""
        answers, scores, sources = zip(*entries, strict=True)
        fitted = self.method.fitted_on_
        names = tuple(sorted({name for name in sources if name is not None}))
        if names and None in sources:
            raise ColumnError("some samples of this ballot name their source and others do not: name it for all")
        return Pool(
            starts=np.array([0, len(entries)]),
            answer=np.array([self.codes[text] for text in answers], np.int32),
            scores=np.array(scores, np.float64),  # None becomes NaN
            base=np.zeros(1, np.int64),
            width=np.array([len(self.names)]),
            questions=QUESTION,
            names=self.names,
            origin=Origin(score=fitted.score if fitted else None),
            source=np.array([names.index(name) for name in sources], np.int32) if names else None,
            sources=names,
            similarity=None if self.texts is None else Similarity(self.texts.matrix(self.names).ravel(), FIRST),
        )
