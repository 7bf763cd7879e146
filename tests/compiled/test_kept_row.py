"""Rows that are read as named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from driftanchor.compiled.kept_row import reader


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
