"""The bytes of a file: unpacked, whole, or refused."""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from driftanchor import InvalidInput, read_logs
from driftanchor.logs import log_file
from driftanchor.logs.log_file import LogFile

zstd: Any = importlib.import_module("backports.zstd")
TEXT = b"".join(b"%d,%d\n" % (i, i * 7919 % 10_007) for i in range(3_000))
SKIPPED = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"  # a frame of zstd for others


def with_checksum(text: bytes) -> bytes:
    packed: bytes = zstd.compress(text, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": with_checksum,
}


def file(path: Path, content: bytes) -> LogFile:
    path.write_bytes(content)
    return LogFile(path.name, path, "csv", path.suffix if path.suffix in PACKED else "")


@pytest.mark.parametrize("suffix", PACKED)
def test_parts_may_follow_one_another(suffix: str, tmp_path: Path) -> None:
    part = PACKED[suffix](TEXT)
    assert b"".join(file(tmp_path / f"a.csv{suffix}", part + part).pieces()) == TEXT + TEXT


def test_frames_of_zstd_may_be_for_others(tmp_path: Path) -> None:
    part = with_checksum(TEXT)
    for content in (SKIPPED + part, part + SKIPPED):
        assert b"".join(file(tmp_path / "a.csv.zst", content).pieces()) == TEXT


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("left", [0.3, 0.7, 0.999])
def test_a_file_that_was_cut_is_refused(suffix: str, left: float, tmp_path: Path) -> None:
    packed = PACKED[suffix](TEXT)
    cut = file(tmp_path / f"a.csv{suffix}", packed[: int(left * len(packed))])
    with pytest.raises(InvalidInput, match=rf"'a\.csv\{suffix}' ends too early, in the middle of"):
        list(cut.pieces())


@pytest.mark.parametrize("suffix", PACKED)
def test_a_wrong_checksum_is_refused(suffix: str, tmp_path: Path) -> None:
    packed = bytearray(PACKED[suffix](TEXT))
    packed[-5 if suffix == ".gz" else -1] ^= 1
    with pytest.raises(InvalidInput, match=rf"'a\.csv\{suffix}' is damaged: .*; copy or write it"):
        list(file(tmp_path / f"a.csv{suffix}", bytes(packed)).pieces())


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst", "a.jsonl.gz", "a.jsonl.zst"])
def test_logs_are_read_whole_or_not_at_all(name: str, tmp_path: Path) -> None:
    lines = [b'{"arm": "A", "reward": %d}' % (i % 3) for i in range(3_000)]
    if ".csv" in name:
        lines = [b"arm,reward", *(b"A,%d" % (i % 3) for i in range(3_000))]
    path = tmp_path / name
    packed = PACKED[path.suffix](b"\n".join(lines))
    path.write_bytes(packed)
    with pytest.warns(UserWarning, match="one arm only"):
        assert read_logs(path, arm="arm", reward="reward").provenance.rows_used == 3_000
    path.write_bytes(packed[: len(packed) * 7 // 10])
    with pytest.raises(InvalidInput, match="ends too early"):
        read_logs(path, arm="arm", reward="reward", allow_rejects=True)


def test_no_piece_ends_within_a_line_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "PIECE", 2)
    pieces = list(file(tmp_path / "a.csv", b"a\r\nb\r\r\r\nc\r").pieces())
    assert b"".join(pieces) == b"a\r\nb\r\r\r\nc\r"
    assert all(pieces)
    assert not any(piece.startswith(b"\n") for piece in pieces)


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    gone = LogFile("a.csv", tmp_path / "a.csv", "csv", "")
    with pytest.raises(InvalidInput, match=r"cannot read 'a\.csv': No such file or directory"):
        list(gone.pieces())
