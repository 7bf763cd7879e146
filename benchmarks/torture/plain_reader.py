"""A plain reader of logs, to compare with: slow, a character at a time, no code of the package.

It says what the documentation says. A file is refused, or every line of it is a row that is used,
a row or line that is rejected, or empty.
"""

import gzip
import importlib
import json
import math
import re
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONGEST_LINE, LONGEST_OBJECT, LONGEST_LABEL = 2_000_000, 16_000_000, 1_000
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
BLANK = " \t\n\r\v\f"


class Refused(Exception):
    """The file as a whole cannot be read."""


@dataclass
class Found:
    """What became of the rows."""

    rejected: int = 0
    n: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def read(self) -> int:
        """All of them."""
        return self.rejected + sum(self.n.values())

    def add(self, label: object, reward: float | None) -> None:
        """Judge one row."""
        text = label if isinstance(label, str) else ""
        good = text.strip() and text.isprintable() and len(text) <= LONGEST_LABEL
        if reward is None or not math.isfinite(reward) or not good:
            self.rejected += 1
        else:
            self.n[text] += 1
            self.sums[text] += reward


def read(path: Path, format: str) -> Found:
    """Read a file."""
    found = Found()
    if format == "parquet":
        _parquet(path, found)
    else:
        content = _unpacked(path)
        if not content:
            raise Refused("empty")
        if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
            raise Refused("not text")
        (_csv if format == "csv" else _jsonl)(content, found)
    if not found.n:
        raise Refused("no row can be used")
    return found


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    try:
        if path.suffix == ".gz":
            return gzip.decompress(content) if content else b""
        if path.suffix == ".zst":
            zstd: Any = importlib.import_module("backports.zstd")
            unpacked: bytes = zstd.decompress(content) if content else b""
            return unpacked
    except (OSError, EOFError, zlib.error) as error:
        raise Refused(str(error)) from error
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise Refused(str(error)) from error
    return content


def number(text: str) -> float | None:
    """What a text says, if it is a number."""
    text = text.strip(BLANK)
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    return float(text) if NUMBER.fullmatch(text) else None


def _lines(content: bytes) -> list[bytes]:
    lines = re.split(rb"\r\n|\n|\r", content)
    return lines[:-1] if not lines[-1] else lines


def _csv(content: bytes, found: Found) -> None:
    lines = _lines(content.removeprefix(b"\xef\xbb\xbf"))
    start = next((i for i, line in enumerate(lines) if line.strip()), None)
    if start is None or len(lines[start]) > LONGEST_LINE:
        raise Refused("no names")
    best: tuple[bool, int] = (False, 0)
    for delimiter in ",\t;|":
        kind, fields, after = _record(lines, start, delimiter.encode())
        names = [name.decode(errors="replace").strip() for name in fields] if kind == "good" else []
        if (("arm" in names), len(names)) > best:
            best = ("arm" in names), len(names)
            chosen = delimiter.encode(), names, after
    if not best[1]:
        raise Refused("no names")
    delimiter_bytes, names, after = chosen
    if names.count("arm") != 1 or names.count("reward") != 1:
        raise Refused("columns are missing, or there twice")
    _csv_rows(lines, after, delimiter_bytes, names, found)
    if found.read == 0:
        raise Refused("no rows")


def _csv_rows(
    lines: list[bytes], at: int, delimiter: bytes, names: list[str], found: Found
) -> None:
    arm, reward = names.index("arm"), names.index("reward")
    while at < len(lines):
        line = lines[at]
        if not line or (not line.strip() and delimiter not in line):
            at += 1
            continue
        if len(line) > LONGEST_LINE:
            found.rejected += 1
            at += 1
            continue
        kind, fields, after = _record(lines, at, delimiter)
        size = sum(map(len, lines[at:after])) + after - at - 1
        inner = [part for text in fields for part in text.split(b"\n")[1:]]
        if kind == "open" or (
            after > at + 1
            and (
                kind == "broken"
                or size > LONGEST_LINE
                or any(_is_row(part, delimiter, len(names), reward) for part in inner)
            )
        ):
            found.rejected += after - at
        elif kind == "broken" or not _fits(fields, names):
            found.rejected += 1
        else:
            _csv_row(fields[arm], fields[reward], found)
        at = after


def _fits(fields: list[bytes], names: list[str]) -> bool:
    """Whether fields are those of a row: as many as names, and not the names again."""
    width = len(names)
    if len(fields) < width or any(fields[width:]):
        return False
    return [_name(text) for text in fields[:width]] != names


def _csv_row(label: bytes, reward: bytes, found: Found) -> None:
    try:
        found.add(label.decode(), number(reward.decode()))
    except UnicodeDecodeError:
        found.rejected += 1


def _name(text: bytes) -> str:
    return text.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").strip()


def _is_row(line: bytes, delimiter: bytes, width: int, reward: int) -> bool:
    fields = line.split(delimiter)
    if len(fields) != width:
        return False
    text = fields[reward].decode(errors="replace").strip(' "' + BLANK)
    return number(text) is not None or text.lower().lstrip("+-") in ("nan", "inf", "infinity")


def _record(lines: list[bytes], at: int, delimiter: bytes) -> tuple[str, list[bytes], int]:
    """A record that starts at a line: good, open or broken; its fields; where the next one is."""
    fields: list[bytes] = []
    line, i = lines[at], 0
    while True:
        start = i
        while line[i : i + 1] == b" ":
            i += 1
        if line[i : i + 1] != b'"':
            end = line.find(delimiter, start)
            fields.append(line[start:] if end < 0 else line[start:end])
            if end < 0:
                return "good", fields, at + 1
            i = end + 1
            continue
        i += 1
        text = b""
        while line[i : i + 1] != b'"' or line[i + 1 : i + 2] == b'"':
            if i < len(line):
                text += line[i : i + 1]
                i += 1 + (line[i : i + 1] == b'"')
                continue
            at += 1
            if at == len(lines) or len(lines[at]) > LONGEST_LINE:
                return ("open", [], at) if at == len(lines) else ("broken", [], at + 1)
            line, i, text = lines[at], 0, text + b"\n"
        fields.append(text)
        i += 1
        while line[i : i + 1] == b" ":
            i += 1
        if i == len(line):
            return "good", fields, at + 1
        if line[i : i + 1] != delimiter:
            return "broken", [], at + 1
        i += 1


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its keys, also those that are there twice."""


def _jsonl(content: bytes, found: Found) -> None:
    if content.startswith(b"\xef\xbb\xbf") or content.lstrip().startswith(b"["):
        raise Refused("not JSON lines")
    lines = [line for line in _lines(content) if line.strip()]
    parsed = [_object(line) for line in lines]
    keys = {key for pairs in parsed[:10_000] if isinstance(pairs, _Pairs) for key, _ in pairs}
    if not {"arm", "reward"} <= keys:
        raise Refused("keys are missing")
    for pairs in parsed:
        values = dict(pairs) if isinstance(pairs, _Pairs) else {}
        wanted = [key for key, _ in pairs if key in ("arm", "reward")] if values else []
        if len(wanted) != len(set(wanted)):
            found.rejected += 1
        else:
            found.add(_text(values.get("arm")), number(_text(values.get("reward")) or ""))


def _object(line: bytes) -> Any:
    if len(line) > LONGEST_OBJECT:
        return None
    try:
        return json.loads(line.decode(), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(dict(value) if isinstance(value, _Pairs) else value)


def _parquet(path: Path, found: Found) -> None:
    parquet: Any = importlib.import_module("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(path).read()
        columns = [column.to_pylist() for column in table.columns]
    except Exception as error:
        raise Refused(str(error)) from error
    names = list(table.column_names)
    if names.count("arm") != 1 or names.count("reward") != 1:
        raise Refused("columns are missing, or there twice")
    labels, rewards = columns[names.index("arm")], columns[names.index("reward")]
    for label, reward in zip(labels, rewards, strict=True):
        found.add(label, number(reward) if isinstance(reward, str) else reward)
