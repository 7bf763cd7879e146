from __future__ import annotations

from driftanchor.experiments import spec
from driftanchor.experiments.figures import regret_curves


def test_curves_stand_in_rows_of_the_first_value() -> None:
    rows = regret_curves.grid(spec.load("fig7").cells)
    assert [len(row) for row in rows] == [4, 4]
    assert {cell.varied["gap"] for cell in rows[0]} == {0.3}
