"""Public functions that run in this process or, with `engine=`, on many workers.

Workers read from folders, and write into folders, that all of them share, or that are on an object store.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

import polars as pl

from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Place, place_of
from steelyard.runs.parts import part_tables

if TYPE_CHECKING:
    from steelyard.engine.engines import Engine

P = ParamSpec("P")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Either(Protocol[P, Result_co]):
    """A function that runs in this process, or on an engine."""

    __name__: str

    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> Result_co: ...

    @overload
    def __call__(self, *args: Any, engine: str | Engine | None, **options: Any) -> Result_co: ...


def with_engine(alone: Callable[P, Result]) -> Callable[[Callable[..., Result]], Either[P, Result]]:
    """Make a function that calls `alone` or, with `engine=`, the decorated function.

    Its docstring is that of both; options of the second alone are refused without an engine.

    >>> def double(x: int) -> int:
    ...     return 2 * x
    >>> @with_engine(double)
    ... def double_parts(x: int, *, engine: object, workers: int | None = None) -> int:
    ...     return x + x
    >>> double_parts(21), double_parts(21, engine="processes:2", workers=2)
    (42, 42)
    """
    before = signature(alone).parameters

    def decorate(parted: Callable[..., Result]) -> Either[P, Result]:
        parameters = signature(parted).parameters.values()
        extra = [
            parameter
            for parameter in parameters
            if parameter.name not in before and parameter.kind is Parameter.KEYWORD_ONLY
        ]
        extra_names = [parameter.name for parameter in extra if parameter.name != "engine"]

        @wraps(alone)
        def either(*args: Any, engine: str | Engine | None = None, **options: Any) -> Result:
            if engine is not None:
                from steelyard.engine.engines import engine_of

                return parted(*args, engine=engine_of(engine), **options)
            for name in extra_names:
                if options.pop(name, None) is not None:
                    raise SettingError(f"{name}= needs an engine: add engine='ray' or engine='processes:2'")
            return alone(*args, **options)

        either.__doc__ = f"{cleandoc(alone.__doc__ or '')}\n\n{cleandoc(parted.__doc__ or '')}"
        options = [parameter.replace(default=None) if parameter.name == "engine" else parameter for parameter in extra]
        vars(either)["__signature__"] = signature(alone).replace(parameters=[*before.values(), *options])
        return cast("Either[P, Result]", either)

    return decorate


def folder_named(source: Any) -> Place:
    """The folder that workers read; a table in memory is refused."""
    if not isinstance(source, str | Path):
        raise SettingError(
            f"workers read a folder of parts, not a {type(source).__name__}: make one with sy.partition, and name it"
        )
    return place_of(source)


def output_folder(output: str | Path | None) -> Place:
    """The folder that workers write, which must be named."""
    if output is None:
        raise SettingError("an engine writes a folder: name it with output=")
    return place_of(output)


def all_rows(folder: Place) -> pl.DataFrame:
    """The rows of all parts, one after the other."""
    return pl.concat([pl.read_parquet(str(path), glob=False) for path in part_tables(folder)[1]])
