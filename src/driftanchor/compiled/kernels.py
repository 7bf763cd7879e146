"""Compile rules and loops with Numba, and cache them on disk.

A rule is a function that depends on the policy, such as the choice of an arm. A loop plays the
rounds and calls the rule through a function pointer, so it does not depend on the policy. A loop is
compiled once per machine; a new policy compiles only its own rule. A policy needs no decorator: the
plain functions that it calls are found by walking its code.

Before Numba reuses code from its disk cache, it checks only whether the function's own file has
changed. The cache folder is therefore named by a hash of the code and the constants of every
function that is compiled in, so a new folder is used when a helper is edited.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import logging
import numbers
import os
import re
import shutil
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from driftanchor.compiled.overloads import (
    CHECKED,
    INLINED,
    OPTIONS,
    OVERLOADS,
    copies_of,
    is_ours,
    numbers_type,
    overload_all,
    reachable,
    register,
    values_read,
)
from driftanchor.errors import InvalidInput, require
from driftanchor.policies.base import Policy

Kernel = Callable[..., Any]
UNUSED_DAYS = 30  # remove cache folders unused for this long

_log = logging.getLogger("driftanchor")
_kernels: dict[object, Kernel] = {}
_lock = threading.RLock()  # Numba compiles in one thread at a time anyway


def rule(policy: Policy, make: Callable[[Any], Kernel], *arguments: Any) -> Kernel:
    """Return a compiled rule: a function that depends on the policy's class.

    Args:
        policy: The policy.
        make: Takes the type from `policy_type(policy)` and returns the function to compile. The
            first argument of that function is `parameters_of(policy)`, from which it rebuilds the
            policy with `policy_from`.
        arguments: Example arguments; the function is compiled for their types.
    """
    with _lock:
        return _compiled(policy, make, policy_type(policy), arguments)


def policy_type(policy: Policy) -> Any:
    """Return the named tuple type that stands for the policy's class in compiled code.

    For a user's class, this returns a new type whenever the code that the class uses has changed.
    In a notebook, a helper or a constant may change while the class stays the same.
    """
    cls = type(policy)
    if is_ours(cls):
        return numbers_type(policy)
    functions = functions_of(cls)
    kind = numbers_type(policy, code_digest(functions, cls) or tuple(functions))
    kind.copies = kind.copies or copies_of(functions)
    return kind


def returns_column(rule: Kernel) -> bool:
    """Return whether a compiled rule returns a signed integer, as `choose` must."""
    numba = require("numba", extra="fast", why="compiled simulation")
    compiled: Any = rule
    answer = compiled.nopython_signatures[0].return_type
    return isinstance(answer, numba.types.Integer) and bool(answer.signed)


def entry(kernel: Kernel, *arguments: Any) -> Kernel:
    """Return the compiled version of a kernel for arguments of these types.

    Calls to it skip Numba's type dispatch, which takes longer than a decision among ten arms.
    """
    numba = require("numba", extra="fast", why="compiled decisions")
    compiled: Any = kernel
    unchecked: Kernel = compiled.get_overload(tuple(numba.typeof(x) for x in arguments))
    return unchecked


def loop(function: Kernel, *arguments: Any) -> Kernel:
    """Return a function that depends on no policy, compiled for arguments of these types.

    Compiled rules among the arguments are called through function pointers. Loops release the GIL;
    rules hold it, because reacquiring the GIL can take longer than a decision.
    """
    with _lock:
        return _compiled(None, function, None, arguments)


def _compiled(policy: Policy | None, make: Kernel, kind: Any, arguments: tuple[Any, ...]) -> Kernel:
    numba = require("numba", extra="fast", why="compiled simulation")
    if numba.config.DISABLE_JIT:
        raise InvalidInput(
            "the environment variable NUMBA_DISABLE_JIT switches Numba off: unset it (simulations "
            "also run without Numba, with engine='interpreted')"
        )
    signature = tuple(_type_of(numba, x) for x in arguments)
    key = (make, kind, signature)
    if key not in _kernels:
        _kernels[key] = _compile(numba, policy, make if kind is None else make(kind), signature)
    return _kernels[key]


def _type_of(numba: Any, argument: Any) -> Any:
    """Return the Numba type of an argument; a compiled rule has the type of a function pointer."""
    signatures = getattr(argument, "nopython_signatures", None)
    return numba.types.FunctionType(signatures[0]) if signatures else numba.typeof(argument)


def _compile(numba: Any, policy: Policy | None, function: Kernel, signature: Any) -> Kernel:
    """Compile a function, or load it from the cache."""
    overload_all()
    parts = functions_of(None if policy is None else type(policy), function)
    copies = {} if policy is None else numbers_type(policy).copies
    for part in parts:
        register(copies.get(part, part))
    name = function.__module__ if policy is None else policy.name
    digest = code_digest(parts, type(policy)) if _is_importable(policy) else None
    folder = _cache_folder(digest)
    if policy is not None:
        # Numba finds machine code by name, argument types and a per-process counter. All rules have
        # the same types, and rules that two processes cached may have the same count. So each rule
        # needs a name of its own.
        function.__qualname__ += f"_{digest or numbers_type(policy).__name__}"
    _log.info("compiling %s: once, for some seconds", name)

    def compiled(folder: Path | None) -> Kernel:
        before = numba.config.CACHE_DIR
        try:
            numba.config.CACHE_DIR = str(folder or "")
            cached = {"cache": folder is not None, "nogil": policy is None}
            kernel: Kernel = numba.njit(signature, **cached, **OPTIONS)(function)
        finally:
            numba.config.CACHE_DIR = before
        return kernel

    try:
        try:
            return compiled(folder)
        except numba.errors.NumbaError:
            raise
        except Exception:
            if folder is None:
                raise
            shutil.rmtree(folder, ignore_errors=True)  # the disk is full, or a file is damaged
            return compiled(None)
    except Exception as error:  # Numba's errors, and others that it lets through
        raise InvalidInput(
            f"{name!r} cannot be compiled; its index and choose may use numbers, "
            f"math, plain functions and no new arrays, or use the interpreted engine: "
            f"{_reason(error)}",
            argument="policy",
        ) from error


def _is_importable(policy: Policy | None) -> bool:
    """Return whether other processes can import the policy's class by name."""
    cls = type(policy)
    return policy is None or not ("<locals>" in cls.__qualname__ or cls.__module__ == "__main__")


def _reason(error: Exception) -> str:
    """Return the part of a Numba error that names the problem, and the user's line, if known."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    telling = ("NameError", "Unknown", "Cannot", "Untyped", "unsupported", "Unsupported", "Use of")
    lines = [line.strip("> -") for line in text.splitlines()]
    complaints = (line for line in lines if line.startswith(telling) and line[-1] != ":")
    reason = next(complaints, "Numba does not support the types or functions in this code")
    places = re.findall(r" at (.+\.py) \((\d+)\)", text)
    for path, line in places:  # Numba names the innermost place first
        if not any(part in ("numba", "driftanchor") for part in Path(path).parts):
            return f"{reason} ({Path(path).name}, line {line})"
    return reason


def cache_home() -> Path:
    """Return the folder that holds the cache folders; it need not exist.

    Raises:
        RuntimeError: This user has no home folder.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "driftanchor" / "kernels"


def _cache_folder(digest: str | None) -> Path | None:
    """Return the cache folder for a code digest, or `None` if there can be no cache.

    Numba loads pickles from the folder, so a folder that other users can write to is not used.
    """
    if digest is None:
        return None
    try:
        home = cache_home()
        folder = home / f"{digest}-{os.environ.get('NUMBA_BOUNDSCHECK', '')}"
        is_new = not folder.exists()
        home.parent.parent.mkdir(parents=True, exist_ok=True)
        for place in (home.parent, home, folder):  # one by one: `mode` applies only to the last
            place.mkdir(mode=0o700, exist_ok=True)
        shared = open_to_others(home.parent, home, folder)
        if shared is not None:
            _warn_of(str(shared))
            return None
        if is_new:
            _remove_unused(home)
        with contextlib.suppress(OSError):  # a read-only file system
            os.utime(folder)
    except (OSError, RuntimeError):  # RuntimeError: no home folder
        return None
    return folder


def open_to_others(*folders: Path) -> Path | None:
    """Return the first of these folders that another user owns or can write to, or `None`."""
    for folder in folders:
        status = folder.stat()
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            return folder
    return None


@functools.cache
def _warn_of(place: str) -> None:
    warnings.warn(
        f"other users can write to {place!r}, so compiled kernels are not cached there, and each "
        "process compiles anew: remove the folder, or make it yours alone (chmod go-w), or set "
        "XDG_CACHE_HOME to another",
        stacklevel=2,
    )


def _remove_unused(home: Path) -> None:
    """Remove cache folders that were not used for `UNUSED_DAYS` days."""
    for folder in home.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > UNUSED_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)


def functions_of(cls: type[Policy] | None, *functions: Kernel) -> list[types.FunctionType]:
    """Return all functions compiled for `functions` and the methods of `cls`, sorted by name."""
    roots = [*functions, *OVERLOADS.values()]
    if cls is not None:
        names = ("index", "believe", "sample", "choose", "moved", "law", "law_at", "laws")
        roots += [getattr(cls, name) for name in names]
    return sorted(reachable(roots), key=lambda x: (x.__module__, x.__qualname__))


def code_digest(functions: Iterable[types.FunctionType], cls: type | None = None) -> str | None:
    """Return a hash of the code of some functions, the values they read, and attributes of `cls`.

    Returns `None` if a function reads a value that cannot be hashed.
    """
    attributes = ("normals", "uniforms", "memory", "uses_logs", "belief")
    values = [getattr(cls, name, None) for name in attributes]
    digest = hashlib.sha256(repr((sys.hexversion, INLINED, CHECKED)).encode())
    for function in functions:
        digest.update(f"{function.__module__}.{function.__qualname__}".encode())
        codes = [function.__code__]
        for code in codes:
            inner = [x for x in code.co_consts if isinstance(x, types.CodeType)]
            plain = [
                sorted(map(repr, x)) if isinstance(x, frozenset) else x
                for x in code.co_consts
                if not isinstance(x, types.CodeType)
            ]
            digest.update(code.co_code + repr((plain, code.co_names, code.co_varnames)).encode())
            codes += inner
        values += [function.__defaults__, *(function.__kwdefaults__ or {}).values()]
        values += values_read(function)
    for value in values:
        content = _content(value)
        if content is None:
            return None
        digest.update(content)
    return digest.hexdigest()[:20]


def _content(value: object) -> bytes | None:
    """Return bytes that identify a value, for a hash; `None` if its type is not supported."""
    if isinstance(value, tuple):
        parts = [_content(x) for x in value]
        return None if None in parts else repr(parts).encode()
    if isinstance(value, np.ndarray):
        return repr((value.dtype, value.shape, value.tobytes())).encode()
    if isinstance(value, numbers.Number | str | types.NoneType):
        return repr(value).encode()
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | np.ufunc):
        return repr((getattr(value, "__module__", ""), value.__name__)).encode()
    if isinstance(value, enum.EnumMeta):
        return repr(list(value)).encode()
    if isinstance(value, type):
        return repr((value.__module__, value.__qualname__, getattr(value, "_fields", ()))).encode()
    if isinstance(value, types.ModuleType) and value.__name__ in ("math", "numpy"):
        return value.__name__.encode()
    return None
