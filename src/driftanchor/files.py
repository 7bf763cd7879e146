"""Writing files whole: either the new content is there, or the old one is untouched."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from driftanchor.errors import DriftanchorError, InvalidInput


@contextlib.contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A scratch file beside `path`, which takes its place when the block ends well."""
    try:
        target = Path(path).resolve()  # what a link points to is written, and the link stays
        if target.exists() and not target.is_file():
            raise IsADirectoryError("it is not a regular file")
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"cannot write {str(path)!r}: {error}") from error
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        with scratch.open("rb") as file:
            os.fsync(file.fileno())
        scratch.chmod(0o666 & ~_umask())
        scratch.replace(target)
    except OSError as error:  # the disk is full, or went away
        raise DriftanchorError(f"cannot write {str(path)!r}: {error}") from error
    finally:
        scratch.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
