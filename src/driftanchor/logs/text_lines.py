"""The lines of a text file: some at a time, or counted in one quick pass over its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Bools

BOM = b"\xef\xbb\xbf"
BLOCK = 64  # lines that are looked at together
LINE_FEED, QUOTE, UNDERSCORE, ZERO, NINE = b'\n"_09'


class LineReader:
    r"""The lines of a text file, a few at a time or one by one, without their ends.

    A line ends with `\n`, `\r\n` or `\r`.

    Args:
        pieces: The bytes of the file, none of which ends between `\r` and `\n`.
        longest: Of a longer line there is as much, and one byte.

    Attributes:
        number: The number of the next line, as an editor shows it.

    Example:
        >>> reader = LineReader([b"\xef\xbb\xbfa\nb", b"c\r\n\rd"], 100)
        >>> reader.take(), reader.at_hand(), reader.number
        (b'a', [b'bc', b''], 2)
    """

    def __init__(self, pieces: Iterable[bytes], longest: int) -> None:
        self.number = 1
        self._blocks = _blocks(pieces, longest)
        self._block: list[bytes] = []

    def at_hand(self) -> list[bytes]:
        """The next few lines, which stay where they are; none at the end of the file."""
        if not self._block:
            self._block = next(self._blocks, [])[::-1]
        return self._block[::-1]

    def take(self) -> bytes | None:
        """The next line; `None` at the end of the file."""
        if not self._block and not self.at_hand():
            return None
        self.number += 1
        return self._block.pop()

    def take_all(self) -> None:
        """Go on after the lines that are at hand."""
        self.number += len(self._block)
        self._block = []


def _blocks(pieces: Iterable[bytes], longest: int) -> Iterator[list[bytes]]:
    kept, start = b"", True
    for piece in pieces:
        whole = piece.endswith((b"\n", b"\r"))
        found = piece.removeprefix(BOM if start else b"").splitlines()
        start = False
        if not found:
            continue
        found[0] = kept + found[0][: longest + 1 - len(kept)]
        kept = b"" if whole else found.pop()
        for i in range(0, len(found), BLOCK):
            yield found[i : i + BLOCK]
    if kept:
        yield [kept]


class LineSurvey:
    r"""What the lines of a text file are like, as far as they were looked at.

    It counts quotes and line ends alone, which costs a tenth of reading the rows. Only if every
    line is surely a record of its own can the rows that DuckDB reads be compared with the lines.

    Args:
        csv: Whether to look at quotes and numbers too, which matter in CSV.

    Attributes:
        lines: How many lines are not empty; one without a line end counts once `end` was called.
        longest: A line has at most as many bytes, or as a piece has.
        quoted_breaks: Whether a line ends between quotes.
        ends: How lines end: `\n`, `\r\n`, `\r`.
        underscores: Whether one is between digits: DuckDB would read `1_0` as 10.

    Example:
        >>> survey = LineSurvey(csv=True)
        >>> survey.add(b'arm,note\nA,"two\nlines"\n\nB,one')
        >>> survey.end()
        >>> survey.lines, survey.quoted_breaks, survey.ends
        (4, True, {'\n'})
    """

    def __init__(self, *, csv: bool) -> None:
        self.lines = 0
        self.longest = 0
        self.quoted_breaks = False
        self.ends: set[str] = set()
        self.underscores = False
        self._csv = csv
        self._length = 0  # of the line that has not ended yet
        self._inside = False  # whether that line is between quotes
        self._last = b""  # bytes before this piece

    def add(self, piece: bytes) -> None:
        """Look at the next bytes, which do not end within a line end."""
        text = self._with_line_feeds(piece)
        octets = np.frombuffer(text, np.uint8)
        ends = octets == LINE_FEED
        if self._csv and (self._inside or b'"' in text):
            quotes = octets == QUOTE
            inside = _between_quotes(quotes, self._inside)
            self.quoted_breaks |= bool((inside & _bits(ends)).any())
            self._inside ^= bool(np.count_nonzero(quotes) % 2)
        if self._csv and not self.underscores:
            self.underscores = _has_number_with_underscore(self._last + text[:2])
            self.underscores |= _has_number_with_underscore(text)
            self._last = text[-2:]
        empty = np.count_nonzero(ends[1:] & ends[:-1]) + (self._length == 0 and ends[0])
        self.lines += int(np.count_nonzero(ends) - empty)
        first = text.find(b"\n")
        self._length += len(text) if first < 0 else first
        self.longest = max(self.longest, self._length)
        if first >= 0:
            self._length = len(text) - 1 - text.rfind(b"\n")

    def end(self) -> None:
        """Count a last line without a line end."""
        self.longest = max(self.longest, self._length)
        self.lines += self._length > 0
        self._length = 0

    def _with_line_feeds(self, piece: bytes) -> bytes:
        r"""The bytes with every line end as `\n`."""
        text = piece
        if b"\r" in piece:
            text = piece.replace(b"\r\n", b"\n")
            if len(text) < len(piece):
                self.ends.add("\r\n")
            if text.count(b"\n") + len(text) > len(piece):
                self.ends.add("\n")
            if b"\r" in text:
                self.ends.add("\r")
                text = text.replace(b"\r", b"\n")
        elif b"\n" in piece:
            self.ends.add("\n")
        return text


def _bits(flags: Bools) -> npt.NDArray[np.uint64]:
    """Flags as bits, the first one lowest."""
    packed = np.zeros(-(-flags.size // 64) * 8, np.uint8)
    packed[: -(-flags.size // 8)] = np.packbits(flags, bitorder="little")
    words: npt.NDArray[np.uint64] = packed.view("<u8")
    return words


def _between_quotes(quotes: Bools, inside: bool) -> npt.NDArray[np.uint64]:
    """Whether each byte is after an odd number of quotes, as bits.

    These are sums of bits modulo 2: within 64 bits by doubling the reach of a shift, and then over
    the numbers of 64 bits. NumPy's own sums take three times as long.
    """
    bits = _bits(quotes)
    for reach in (1, 2, 4, 8, 16, 32):
        bits = bits ^ (bits << np.uint64(reach))
    odd = bits >> np.uint64(63)
    before = np.bitwise_xor.accumulate(odd) ^ odd ^ np.uint64(inside)
    flipped: npt.NDArray[np.uint64] = np.uint64(0) - before  # all ones where that number is odd
    return bits ^ flipped


def _has_number_with_underscore(text: bytes) -> bool:
    if b"_" not in text or len(text) < 3:
        return False
    octets = np.frombuffer(text, np.uint8)
    digits = (octets >= ZERO) & (octets <= NINE)
    return bool((digits[:-2] & (octets[1:-1] == UNDERSCORE) & digits[2:]).any())
