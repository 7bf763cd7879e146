"""Files that end too early or are damaged are refused, whatever DuckDB makes of them."""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from driftanchor import DriftanchorError, InvalidInput, read_logs
from driftanchor.logs import cut_files
from driftanchor.logs.log_file import LogFile

duckdb: Any = importlib.import_module("duckdb")
ROWS = 30_000


def pack(path: Path) -> bytes:
    """Rows that do not compress well, so that a file has several blocks."""
    format = "csv" if ".csv" in path.name else "json"
    compression = "zstd" if path.suffix == ".zst" else "gzip"
    rows = f"SELECT hash(i) % 2 AS arm, hash(i) AS reward FROM range({ROWS}) AS r(i)"
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT {format}, COMPRESSION {compression})")
    return path.read_bytes()


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst", "a.jsonl.gz", "a.jsonl.zst"])
def test_a_file_is_read_whole_or_not_at_all(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    packed = pack(path)
    assert read_logs(path, arm="arm", reward="reward").provenance.rows_used == ROWS
    for left_out in (4, 10, len(packed) // 2):
        path.write_bytes(packed[:-left_out])
        with pytest.raises(DriftanchorError, match=name.replace(".", r"\.")):
            read_logs(path, arm="arm", reward="reward", allow_rejects=True)


def test_frames_of_zstd_may_follow_one_another_and_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.zst"
    packed = pack(path)
    skipped = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    file = LogFile(path.name, path, "csv", ".zst")
    for content in (skipped + packed, packed + packed, packed + skipped):
        path.write_bytes(content)
        cut_files.refuse_cut(file)
        path.write_bytes(content[:-1])
        with pytest.raises(InvalidInput, match=r"'a\.csv\.zst' ends too early"):
            cut_files.refuse_cut(file)


def test_what_is_not_compressed_is_not_looked_at(tmp_path: Path) -> None:
    cut_files.refuse_cut(LogFile("none.csv", tmp_path / "none.csv", "csv", ""))


def test_a_changed_byte_under_gzip_is_noticed(tmp_path: Path) -> None:
    rows = b'{"arm":"A","reward":1}\n{"arm":"B","reward":0}\n' * 50
    packed = bytearray(gzip.compress(rows, compresslevel=0))  # the bytes as they are
    packed[packed.index(b'reward":1') + len(b'reward":')] = ord("0")
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed)
    with pytest.raises(InvalidInput, match=r"a\.jsonl\.gz' is damaged: CRC check failed"):
        read_logs(path, arm="arm", reward="reward")


def test_several_parts_of_gzip_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    part = gzip.compress(json.dumps({"arm": "A", "reward": 1}).encode() + b"\n")
    path.write_bytes(part + part)
    cut_files.refuse_cut(LogFile(path.name, path, "jsonl", ".gz"))
