"""Files: written whole or not at all, and read only if they end."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from driftanchor.errors import DriftanchorError, InvalidInput, shown

LARGEST = 100_000_000  # bytes of a text that is read whole


@contextlib.contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A scratch file beside `path`, which takes its place when the block ends well.

    A file that is replaced keeps its mode, and its owner where the system allows it. However the
    block ends, the scratch file does not stay.
    """
    with _refusing(path):
        target, old = _target(path)
        scratch = target.with_name(f".driftanchor-{secrets.token_hex(8)}")
    try:
        with _refusing(path):
            mode = 0o666 if old is None else 0o600  # before anything secret is in it
            os.close(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        try:
            yield scratch
            with scratch.open("rb") as file:
                os.fsync(file.fileno())
            if old is not None:
                _make_alike(scratch, old)
            scratch.replace(target)
        except OSError as error:  # the disk is full, or went away
            raise DriftanchorError(_cannot_write(path, error)) from error
    finally:
        scratch.unlink(missing_ok=True)


def writable(path: str | os.PathLike[str]) -> Path:
    """Where a file would be written, links followed; an error says why it cannot be."""
    with _refusing(path):
        target, _ = _target(path)
        with tempfile.TemporaryFile(dir=target.parent):
            return target


def read_text(path: str | os.PathLike[str], *, most: int = LARGEST) -> str:
    """The text of a regular file of bearable size: pipes may keep us waiting, devices never end."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        if status.st_size > most:
            raise OSError(f"it has {status.st_size:,} bytes, and {most:,} are allowed")
        return Path(path).read_text(encoding="utf-8")
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidInput(f"cannot read {_named(path)}: {_reason(error)}") from error


def are_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by links and hard links too."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, RuntimeError, ValueError):  # what is not there is not the same
        return False


def is_unicode(name: str) -> bool:
    r"""Whether a name is text: Linux allows others, of which Python makes halves of characters.

    Example:
        >>> is_unicode("é"), is_unicode("\udcff")
        (True, False)
    """
    return name.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in name)


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """The file itself, not a link to it, and what is there already."""
    target = Path(path).resolve()
    try:
        old = target.stat()
    except FileNotFoundError:
        return target, None
    if not stat.S_ISREG(old.st_mode):
        raise OSError("it is not a regular file")
    if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError("it is read-only")
    return target, old


@contextlib.contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say that a file cannot be written, if this is found before anything was done."""
    try:
        yield
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidInput(_cannot_write(path, error)) from error


def _cannot_write(path: str | os.PathLike[str], error: Exception) -> str:
    return f"cannot write {_named(path)}: {_reason(error)}"


def _named(path: object) -> str:
    return repr(os.fspath(path)) if isinstance(path, str | os.PathLike) else shown(path)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _make_alike(scratch: Path, old: os.stat_result) -> None:
    with contextlib.suppress(PermissionError):  # only root gives files away
        os.chown(scratch, old.st_uid, old.st_gid)
    scratch.chmod(stat.S_IMODE(old.st_mode))
