"""LogFile: one file of logs, its bytes and its digest."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from driftanchor.core.provenance import Source

COMPRESSIONS = {"": "uncompressed", ".gz": "gzip", ".zst": "zstd"}  # suffix: DuckDB's name
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
    """

    name: str
    path: Path
    format: str
    compression: str

    def open(self) -> BinaryIO | None:
        """Its bytes, unpacked; `None` for a compression that Python cannot unpack."""
        if self.compression == ".zst":
            return None
        return cast(BinaryIO, gzip.open(self.path)) if self.compression else self.path.open("rb")

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
