"""LogFile: one file of logs, its bytes and its digest."""

from __future__ import annotations

import gzip
import hashlib
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from driftanchor.core.provenance import Source
from driftanchor.errors import InvalidInput, require

COMPRESSIONS = {"": "uncompressed", ".gz": "gzip", ".zst": "zstd"}  # suffix: DuckDB's name
PIECE = 2**17  # bytes that are looked at together: they fit into a processor's cache
WHOLE = 8 * 2**20  # bytes of a file that is hashed whole: a few milliseconds
SAMPLES, SAMPLE = 64, 2**14  # a larger file is hashed in this many parts of this many bytes


@dataclass(frozen=True)
class LogFile:
    """A file of logs.

    Attributes:
        name: Its name as it was given.
        path: Where it is, links followed.
        format: What is in it: a key of `driftanchor.logs.formats.FORMATS`.
        compression: The suffix of its compression, or nothing.
        copy: Where its readable rows are, if DuckDB cannot be trusted with the file itself.
        twin: Where a copy of all of it is, if DuckDB reads that.
    """

    name: str
    path: Path
    format: str
    compression: str
    copy: Path | None = None
    twin: Path | None = None

    @property
    def read_at(self) -> Path:
        """Where DuckDB reads it."""
        return self.copy or self.twin or self.path

    def open(self) -> BinaryIO:
        """Its bytes, unpacked."""
        if self.compression == ".zst":
            return cast(BinaryIO, _zstd().open(self.path))
        return cast(BinaryIO, gzip.open(self.path)) if self.compression else self.path.open("rb")

    def pieces(self) -> Iterator[bytes]:
        r"""Its bytes, unpacked, piece by piece; none ends between `\r` and `\n`.

        Raises:
            InvalidInput: It cannot be read, ends too early, or is damaged: Python compares the
                checksums of gzip and zstd, DuckDB does not, and reads a file that was cut as far
                as it goes.
        """
        kept = b""
        try:
            with self.open() as unpacked:
                while piece := unpacked.read(PIECE):
                    piece, kept = kept + piece, b""
                    if piece.endswith(b"\r"):
                        piece, kept = piece[:-1], b"\r"
                    if piece:
                        yield piece
        except EOFError as error:
            raise InvalidInput(
                f"{self.name!r} ends too early, in the middle of its compressed data: copy or "
                "write it again"
            ) from error
        except self._damage() as error:
            reason = getattr(error, "strerror", None)
            if reason:
                raise InvalidInput(f"cannot read {self.name!r}: {reason}") from error
            raise InvalidInput(
                f"{self.name!r} is damaged: {error}; copy or write it again"
            ) from error
        if kept:
            yield kept

    def _damage(self) -> tuple[type[Exception], ...]:
        damaged: type[Exception] = zlib.error
        if self.compression == ".zst":
            damaged = _zstd().ZstdError
        return OSError, damaged

    def source(self, *, full_hash: bool) -> Source:
        """What the provenance says of it."""
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            if full_hash or size <= WHOLE:
                return Source(
                    self.name, f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}", size
                )
            state = hashlib.sha256(str(size).encode())
            for i in range(SAMPLES):
                file.seek(i * (size - SAMPLE) // (SAMPLES - 1))
                state.update(file.read(SAMPLE))
        return Source(self.name, f"sha256-sampled:{state.hexdigest()}", size)


def _zstd() -> Any:
    """Python's module for Zstandard, or the package that brings it to versions before 3.14."""
    module = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return require(module, extra="logs", why="reading .zst files")
