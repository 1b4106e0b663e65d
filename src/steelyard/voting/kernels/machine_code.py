"""Machine code of a loop, stored on disk: the next process loads it by llvmlite alone, in a few milliseconds.

Only the first process on a machine imports numba, which takes as long as everything else that a short vote does. The
loops need nothing of numba while they run (`standalone` in compilation.py). Their arrays are passed as a pointer and a
length per axis.

The file of a loop is found by a hash of its name and code, the types, the sources in this folder, the processor, and
numba's version and settings.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from steelyard.foundation.caching import cache_folder, cached

C_TYPES: dict[str, Any] = {"q": ctypes.c_int64, "Q": ctypes.c_uint64, "d": ctypes.c_double, "?": ctypes.c_bool}
NOTHING = "-"  # instead of the type of a result
FROM_LIBRARIES = ("llvm.", "log", "exp", "pow", "ldexp", "mem")  # functions that code may call, by their beginnings
_LOCK = Lock()


class Kind(NamedTuple):
    """The type of an argument: the character of its dtype, and its number of axes, 0 for a number."""

    type: str
    axes: int


def kinds_of(arguments: Sequence[Any]) -> tuple[Kind, ...] | None:
    """Return the types of arguments, None if one is neither a number nor a plain contiguous array.

    >>> kinds_of((np.zeros(3, np.int32), 2))
    (Kind(type='i', axes=1), Kind(type='q', axes=0))
    """
    kinds = tuple(_kind(argument) for argument in arguments)
    return None if None in kinds else kinds  # type: ignore[return-value]


def _kind(argument: Any) -> Kind | None:
    if isinstance(argument, np.ndarray):
        plain = argument.flags.c_contiguous and argument.flags.aligned and argument.dtype.isnative
        return Kind(argument.dtype.char, argument.ndim) if plain and argument.ndim else None
    if isinstance(argument, np.uint64):
        return Kind("Q", 0)
    if isinstance(argument, float):  # np.float64 too
        return Kind("d", 0)
    whole = isinstance(argument, int | np.integer) and not isinstance(argument, bool)
    return Kind("q", 0) if whole and -(2**63) <= int(argument) < 2**63 else None


class MachineCode:
    """A loop in memory, called like the loop itself; `Failed` is returned where that would raise."""

    def __init__(self, address: int, kinds: Sequence[Kind], result: str) -> None:
        flat: list[Any] = [ctypes.c_void_p, ctypes.c_void_p]  # where the result and an exception go
        for kind in kinds:
            flat += [ctypes.c_void_p, *[ctypes.c_int64] * kind.axes] if kind.axes else [C_TYPES[kind.type]]
        self._function = ctypes.CFUNCTYPE(ctypes.c_int32, *flat)(address)
        self._result = None if result == NOTHING else C_TYPES[result]

    def __call__(self, *arguments: Any) -> Any:
        flat: list[Any] = []
        for argument in arguments:
            flat += (argument.ctypes.data, *argument.shape) if isinstance(argument, np.ndarray) else (argument,)
        result, exception = (self._result or ctypes.c_int64)(), ctypes.c_void_p()
        if self._function(ctypes.addressof(result), ctypes.addressof(exception), *flat):
            return Failed
        return None if self._result is None else result.value


class Failed:
    """Stands for the result of a loop that raised an exception."""


def machine_code(loop: Any, kinds: tuple[Kind, ...]) -> MachineCode | None:
    """Load the machine code of a loop for the types of its arguments, compiled if it is not on disk.

    None if it can only run within numba.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return None
    source = loop.py_func.__code__
    try:
        made_of = repr((_environment(), loop.__module__, source.co_code, source.co_consts, source.co_names, kinds))
        name = f"{loop.__name__}_{sha256(made_of.encode()).hexdigest()[:16]}"
        with _LOCK:
            stored = cached(_folder(), name, "o", lambda: _compiled(loop, kinds, name))
            return MachineCode(_loaded(stored[1:], name), kinds, chr(stored[0])) if stored else None
    except (AttributeError, RuntimeError):  # a version of llvmlite that differs, or a machine that it cannot load for
        return None


def _folder() -> Path:
    """The folder chosen for numba's own cache, if any, else the user's cache."""
    config = getattr(sys.modules.get("numba"), "config", None)  # another thread may be importing it
    chosen = config.CACHE_DIR if config else os.environ.get("NUMBA_CACHE_DIR")
    return (Path(chosen) / "steelyard" if chosen else cache_folder()) / "loops"


@lru_cache
def _environment() -> tuple[object, ...]:
    """All that machine code depends on but the loop itself."""
    import llvmlite
    import llvmlite.binding as llvm

    numba = find_spec("numba")  # without importing it: the name of the folder beside it ends with its version
    version = (
        sorted(path.name for path in Path(numba.origin).parents[1].glob("numba-*")) if numba and numba.origin else ()
    )
    sources = sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    processor = llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return llvmlite.__version__, version, sources, settings, processor


@lru_cache
def _target() -> Any:
    """A machine to generate code for: this one."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target, features = llvm.Target.from_triple(llvm.get_process_triple()), llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(llvm.get_host_cpu_name(), features, 3, codemodel="jitdefault", jit=True)


@lru_cache
def _engine() -> Any:
    """What keeps machine code in memory."""
    import llvmlite.binding as llvm

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())


def _loaded(code: bytes, name: str) -> int:
    """Load an object file and return the address of its function."""
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = int(engine.get_function_address(name))
    if not address:
        raise RuntimeError(f"no function {name} in its file")
    return address


def _compiled(loop: Any, kinds: Sequence[Kind], name: str) -> bytes:
    """Compile a loop: the type of its result and an object file with one function; empty if it needs numba."""
    import llvmlite.binding as llvm
    import numba

    types = [numba.from_dtype(np.dtype(kind.type)) for kind in kinds]
    flat: list[Any] = []
    for kind, of_element in zip(kinds, types, strict=True):
        flat += [numba.types.CPointer(of_element), *[numba.int64] * kind.axes] if kind.axes else [of_element]
    dispatcher = numba.njit(tuple(flat))(_entry(loop, kinds))
    compiled = dispatcher.overloads[tuple(flat)]
    returned = compiled.signature.return_type
    result = NOTHING if returned == numba.types.none else numba.np.numpy_support.as_dtype(returned).char
    module = llvm.parse_assembly(dispatcher.inspect_llvm(tuple(flat)))
    for value in (*module.functions, *module.global_variables):
        if value.name == compiled.fndesc.llvm_func_name:
            value.name = name
        elif not value.is_declaration:
            value.linkage = "internal"
    _remove_unused(module)
    others = [value.name for value in (*module.functions, *module.global_variables) if value.is_declaration]
    result = {"l": "q", "L": "Q"}.get(result, result)
    if result not in (*C_TYPES, NOTHING) or not all(other.startswith(FROM_LIBRARIES) for other in others):
        return b""
    return result.encode() + bytes(_target().emit_object(module))


def _entry(loop: Any, kinds: Sequence[Kind]) -> Callable[..., Any]:
    """A function of pointers, lengths and numbers that calls a loop."""
    import numba

    names, values = [], []
    for i, kind in enumerate(kinds):
        lengths = [f"n{i}_{axis}" for axis in range(kind.axes)]
        names += [f"x{i}", *lengths]
        values.append(f"carray(x{i}, ({', '.join(lengths)},))" if lengths else f"x{i}")
    scope: dict[str, Any] = {"loop": loop, "carray": numba.carray}
    exec(f"def entry({', '.join(names)}): return loop({', '.join(values)})", scope)  # noqa: S102, numba needs a name for each
    return scope["entry"]  # type: ignore[no-any-return]


def _remove_unused(module: Any) -> None:
    import llvmlite.binding as llvm

    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(_target(), llvm.create_pipeline_tuning_options()))
