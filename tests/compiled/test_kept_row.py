"""Rows that are read and written as named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from driftanchor.compiled.kept_row import reader, writer


class Kept(NamedTuple):
    mean: float
    sd: float


def test_the_numbers_of_a_row_come_back_by_their_names() -> None:
    read = reader(Kept, 1)

    @numba.njit
    def of(memory: Any, row: int) -> Any:
        return read(memory, row)

    memory = np.arange(12.0).reshape(3, 4)
    assert of(memory, 2) == Kept(9.0, 10.0)
    assert of(memory[:, ::-1], 0).sd == 1.0  # whatever way the array lies


def test_the_numbers_of_a_named_tuple_go_into_their_row() -> None:
    write = writer(Kept, 1)

    @numba.njit
    def to(memory: Any, row: int, mean: Any, sd: float) -> None:
        write(memory, row, Kept(mean, sd))

    memory = np.zeros((3, 4))
    to(memory, 2, 9, 10.0)  # whole numbers become floats
    to(memory[:, ::-1], 0, 7.0, 8.0)
    assert memory.tolist() == [[0, 8, 7, 0], [0] * 4, [0, 9, 10, 0]]
