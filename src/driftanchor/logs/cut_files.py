"""Compressed files that end too early or are damaged, as after a copy that was interrupted.

DuckDB reads such a file as far as it goes and says nothing: every version does so with zstd, and
versions before 2.0 with gzip. No version compares the checksum of gzip. Nobody would miss the rows
that are missing, or notice those that changed.
"""

from __future__ import annotations

import gzip
import zlib
from typing import BinaryIO

from driftanchor.errors import InvalidInput
from driftanchor.logs.log_file import LogFile

PIECE = 2**20  # bytes that are unpacked at once
FRAME, SKIPPED = b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"  # how frames of zstd start (RFC 8878)
RUN = 1  # a block that repeats one byte


def refuse_cut(file: LogFile) -> None:
    """Refuse a compressed file that ends too early, or a gzip file whose checksum is wrong."""
    whole = True
    if file.compression == ".zst":
        with file.path.open("rb") as packed:
            whole = _zstd_is_whole(packed)
    elif file.compression == ".gz":
        whole = _gzip_is_whole(file)
    if not whole:
        raise InvalidInput(
            f"{file.name!r} ends too early, in the middle of its compressed data: copy or write "
            "it again"
        )


def _gzip_is_whole(file: LogFile) -> bool:
    """Unpack it: nothing else shows its end and its checksum."""
    try:
        with gzip.open(file.path) as unpacked:
            while unpacked.read(PIECE):
                pass
    except EOFError:
        return False
    except (OSError, zlib.error) as error:
        raise InvalidInput(f"{file.name!r} is damaged: {error}; copy or write it again") from error
    return True


def _zstd_is_whole(packed: BinaryIO) -> bool:
    """Go from block to block without unpacking them: each says how long it is."""
    end = packed.seek(0, 2)
    packed.seek(0)
    while packed.tell() < end:
        magic = packed.read(4)
        if magic == FRAME:
            if not _skip_frame(packed, end):
                return False
        elif magic[1:] == SKIPPED:
            packed.seek(_number(packed, 4), 1)
        else:
            return False
    return packed.tell() == end


def _skip_frame(packed: BinaryIO, end: int) -> bool:
    descriptor = _number(packed, 1)
    one_segment = bool(descriptor & 0x20)
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    content_size = (int(one_segment), 2, 4, 8)[descriptor >> 6]
    packed.seek((not one_segment) + dictionary + content_size, 1)
    last = False
    while not last:
        if packed.tell() + 3 > end:
            return False
        header = _number(packed, 3)
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        packed.seek(1 if kind == RUN else size, 1)
    packed.seek(4 if descriptor & 4 else 0, 1)  # a checksum
    return packed.tell() <= end


def _number(packed: BinaryIO, size: int) -> int:
    return int.from_bytes(packed.read(size), "little")
