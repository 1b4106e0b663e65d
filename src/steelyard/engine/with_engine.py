"""A function of one process that many workers can do as well: its options, and `engine=`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, cleandoc, signature
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

from steelyard.foundation.errors import SettingError

if TYPE_CHECKING:
    from steelyard.engine.engines import Engine

P = ParamSpec("P")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Either(Protocol[P, Result_co]):
    """Does its work in this process, or has it done by an engine."""

    __name__: str

    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> Result_co: ...

    @overload
    def __call__(self, *args: Any, engine: str | Engine | None, **options: Any) -> Result_co: ...


def with_engine(alone: Callable[P, Result]) -> Callable[[Callable[..., Result]], Either[P, Result]]:
    """Make the function that does as `alone` does, and with `engine=` as the function it decorates.

    The text is that of both; options that only the second has are refused without an engine.

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
        given = signature(parted).parameters.values()
        more = [each for each in given if each.name not in before and each.kind is Parameter.KEYWORD_ONLY]
        only = [each.name for each in more if each.name != "engine"]

        @wraps(alone)
        def either(*args: Any, engine: str | Engine | None = None, **options: Any) -> Result:
            if engine is not None:
                from steelyard.engine.engines import engine_of

                return parted(*args, engine=engine_of(engine), **options)
            for name in only:
                if options.pop(name, None) is not None:
                    raise SettingError(f"{name}= is for an engine: give engine='ray' or engine='processes:2' too")
            return alone(*args, **options)

        either.__doc__ = f"{cleandoc(alone.__doc__ or '')}\n\n{cleandoc(parted.__doc__ or '')}"
        options = [each.replace(default=None) if each.name == "engine" else each for each in more]
        vars(either)["__signature__"] = signature(alone).replace(parameters=[*before.values(), *options])
        return cast("Either[P, Result]", either)

    return decorate
