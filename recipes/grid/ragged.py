"""Lists of unequal length as two arrays, so that they fit an .npz file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ragged:
    """Row i is values[starts[i]:starts[i + 1]]."""

    values: NDArray[Any]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Iterable[Any], dtype: Any) -> Ragged:
        arrays = [np.asarray(row, dtype) for row in rows]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in arrays])]).astype(np.int64)
        return cls(np.concatenate(arrays) if arrays else np.empty(0, dtype), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> NDArray[Any]:
        return self.values[self.starts[i] : self.starts[i + 1]]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def named(self, name: str) -> dict[str, NDArray[Any]]:
        """What to put into an .npz file."""
        return {f"{name}_values": self.values, f"{name}_starts": self.starts}

    @classmethod
    def read(cls, file: Any, name: str) -> Ragged:
        return cls(file[f"{name}_values"], file[f"{name}_starts"])


def save(path: Any, arrays: Mapping[str, Any]) -> None:
    """Write an .npz file of named arrays."""
    np.savez_compressed(path, **cast(Any, arrays))
