"""Translation: what functions of ours compute and raise, whoever calls them."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from driftanchor.compiled.translation import FITS
from driftanchor.core.hints import apart
from numba import extending

from driftanchor.compiled import parts
from driftanchor.compiled.overloads import PART, part_options, register


class Pair(NamedTuple):
    """Two arrays and a number, as a desk has them."""

    row: Any
    table: Any
    shift: int


def last_but_one(pair: Pair) -> Any:
    return pair.row[-2]


def corner(pair: Pair, factor: float = 2.0) -> Any:
    return pair.table[-1, pair.shift] * factor


@apart
def write(pair: Pair, value: float) -> None:
    pair.row[pair.shift - 2] = value
    pair.table[pair.shift, -1] = value


def picky(pair: Pair, at: int) -> Any:
    if at >= pair.row.size:
        raise IndexError("no such cell")
    return pair.row[at]


def through(pair: Pair, at: int) -> Any:
    return picky(pair, at) + 1


def whole(pair: Pair) -> Any:
    found = last_but_one(pair) if pair.shift > 0 else pair.row[0]
    for i in range(pair.row.size):
        found = found + pair.row[np.uint64(i)] * pair.table[0, i]
    write(pair, 7)
    return found + corner(pair) + corner(pair, 0.5) + through(pair, 1)


def forgiving(pair: Pair, at: int) -> Any:
    """As a user may write it."""
    try:
        return through(pair, at) * 1.0
    except Exception:
        return -1.0


def asks(pair: Pair, at: int) -> Any:
    return through(pair, at)


def asks_kindly(pair: Pair, at: int) -> Any:
    return forgiving(pair, at)


def open_to_play(playable: Any, at: int) -> Any:
    playable[at - 1] = not playable[at]
    return playable[at]


@functools.cache
def registered() -> None:
    register(forgiving)
    for function in (last_but_one, corner, write, picky, through):  # as functions of ours
        extending.register_jitable(**part_options(ours=True))(function)


@functools.cache
def compiled(loop: Any) -> Any:
    registered()
    options: dict[str, Any] = {**PART, "pipeline_class": parts.KernelCompiler}
    return numba.njit(**options)(loop)


def numbers(kind: Any, order: Any = "C") -> Pair:
    table = np.arange(9).reshape(3, 3).astype(kind, order=order)
    return Pair(np.array([3, 1, 2], kind), table, 1)


def test_this_numba_has_all_that_it_needs() -> None:
    assert FITS


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_cells_are_read_and_written_as_in_python(kind: Any, order: Any) -> None:
    ours, python = numbers(kind, order), numbers(kind, order)
    assert compiled(whole)(ours) == whole(python)
    assert np.array_equal(ours.row, python.row)
    assert np.array_equal(ours.table, python.table)


def test_cells_of_what_is_not_contiguous_are_found_too() -> None:
    table = np.arange(36.0).reshape(6, 6)
    pair = Pair(table[0, ::2], table[::2, ::2], 1)
    other = table.copy()
    expected = whole(Pair(other[0, ::2], other[::2, ::2], 1))
    assert compiled(whole)(pair) == expected
    assert np.array_equal(table, other)


def test_truth_values_are_cells_too() -> None:
    playable = np.array([True, True, False])
    assert [compiled(open_to_play)(playable, at) for at in (0, 1, 2)] == [True, True, False]
    assert playable.tolist() == [False, True, False]


def test_an_error_in_a_part_reaches_who_called_the_kernel() -> None:
    assert compiled(asks)(numbers(np.float64), 1) == 2.0
    with pytest.raises(IndexError, match="no such cell"):
        compiled(asks)(numbers(np.float64), 3)


def test_a_function_of_the_users_own_can_catch_it() -> None:
    assert [compiled(asks_kindly)(numbers(np.float64), at) for at in (0, 3)] == [4.0, -1.0]
