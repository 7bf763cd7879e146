"""The folders in which compiled kernels are kept: nothing is loaded that we did not put there.

Numba keeps a kernel as a pickle, and runs what it loads. So a folder is used only if it belongs to
this user and nobody else can write to it. Beside the files of Numba stands a list of their hashes,
which is compared before Numba loads anything. What does not fit is compiled again: files that a
disk damaged, or that were written in part.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from driftanchor.locks import alone

Compiled = TypeVar("Compiled")

HASHES = "sha256sums"  # the name of the list
PATIENCE = 120.0  # seconds to wait for another process that compiles the same kernel
UNUSED = 90 * 86_400.0  # seconds after which a kernel that nobody used is removed
MOST = 1_000  # kernels that are kept: some hundred MB
DAY = 86_400.0


def home() -> Path:
    """The folder that has a folder for each kernel, which need not be there yet.

    Raises:
        RuntimeError: This user has no home.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "driftanchor" / "kernels"


def kept_in(name: str) -> Path | None:
    """The folder of the kernel of that name; `None` where none can be used.

    It is made if need be, with all folders above it, for this user alone. A folder that others can
    write to is not used, and a warning says so once.
    """
    try:
        folder = home() / name
        for place in reversed((folder, *folder.parents)):
            if not place.exists():
                place.mkdir(0o700, exist_ok=True)
        problem = open_to_others(folder.parent, folder)
    except (OSError, RuntimeError):  # RuntimeError: no home
        return None
    if problem is not None:
        _warn(problem)
        return None
    return folder if os.access(folder, os.W_OK) else None


def open_to_others(kernels: Path, *below: Path) -> str | None:
    """Why somebody else could put a file into a folder, if that is so.

    Args:
        kernels: The folder of all kernels, as `home` gives it.
        below: Folders in it.
    """
    root = kernels.parent.parent
    above = root.stat().st_mode
    if above & 0o002 and not above & 0o1000:  # others may rename what is in it, unless it is sticky
        return f"{str(root)!r} can be written to by all users"
    for place in (kernels.parent, kernels, *below):
        found = place.stat()
        if found.st_uid != os.geteuid():
            return f"{str(place)!r} belongs to another user"
        if found.st_mode & 0o022:
            return f"{str(place)!r} can be written to by other users"
    return None


@functools.cache
def _warn(problem: str) -> None:
    warnings.warn(
        f"{problem}, so compiled kernels are neither kept nor loaded there, and each process "
        "compiles anew: remove the folder or make it yours alone (chmod go-w), or set "
        "XDG_CACHE_HOME to another",
        stacklevel=2,
    )


def through(folder: Path, compile_or_load: Callable[[], Compiled]) -> Compiled:
    """Let Numba load a kernel from a folder, or compile it and write it there.

    Other processes that want the same kernel wait, to load what this one compiles. The lock files
    stand beside the folders and are few: a folder may go away, a lock must not.

    Args:
        folder: The folder, as `kept_in` gives it.
        compile_or_load: Does either, in a folder that is empty or holds what we wrote.
    """
    lock = folder.parent / f"lock-{folder.name[:2]}"
    with contextlib.suppress(OSError):
        lock.touch(0o600)
    with alone(lock, PATIENCE):
        kept = is_whole(folder)
        if not kept:
            clear(folder)
        try:
            compiled = compile_or_load()
        except Exception as error:
            # What is whole cannot be loaded after other packages changed. And what could not be
            # written, to a full disk, is compiled all the same, and there when asked again.
            if not kept and not isinstance(error, OSError):
                raise
            clear(folder)
            compiled = compile_or_load()
        if not is_whole(folder):
            seal(folder)
    return compiled


def is_whole(folder: Path) -> bool:
    """Whether the folder has files, and all of them are ours and as they were written.

    It is then marked as used, at most once a day.
    """
    try:
        listed = (folder / HASHES).read_bytes()
        if listed != _hashes(folder) or not all(map(_is_ours, _files(folder))):
            return False
        if time.time() - (folder / HASHES).stat().st_mtime > DAY:
            os.utime(folder / HASHES)
    except OSError:
        return False
    return True


def seal(folder: Path) -> None:
    """List the hashes of what Numba wrote, and remove kernels that nobody used for long."""
    with contextlib.suppress(OSError):  # a full disk: then it is compiled again next time
        for file in _files(folder):
            file.chmod(0o600)
        scratch = folder / f"{HASHES}.{os.getpid()}"
        scratch.write_bytes(_hashes(folder))
        scratch.replace(folder / HASHES)
        _tidy(folder)


def clear(folder: Path) -> None:
    """Remove all that is in a folder."""
    with contextlib.suppress(OSError):
        for item in folder.iterdir():
            if item.is_dir() and not item.is_symlink():
                shutil.rmtree(item, ignore_errors=True)
            else:
                item.unlink()


def _files(folder: Path) -> list[Path]:
    """The files of Numba: indices and kernels. Others, such as scratch files, it never loads."""
    return sorted(file for file in folder.rglob("*.nb[ic]"))


def _hashes(folder: Path) -> bytes:
    """As `sha256sum` writes them."""
    lines = (
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder)}\n"
        for file in _files(folder)
    )
    return "".join(lines).encode()


def _is_ours(file: Path) -> bool:
    found = file.lstat()
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _tidy(newest: Path) -> None:
    """Remove the folders beside this one that were not used for long, or are too many."""
    used = {}
    for folder in newest.parent.iterdir():
        if folder.is_dir() and folder != newest:
            mark = folder / HASHES
            used[folder] = (mark if mark.exists() else folder).stat().st_mtime
    latest = sorted(used, key=lambda folder: used[folder], reverse=True)
    for rank, folder in enumerate(latest, start=2):
        if rank > MOST or time.time() - used[folder] > UNUSED:
            shutil.rmtree(folder, ignore_errors=True)
