"""Gauss and Legendre's rule is exact for polynomials of twice its degree, less one."""

from __future__ import annotations

import pytest

from driftanchor.core.legendre import COUNT, POINTS, WEIGHTS


def test_polynomials_are_integrated_exactly() -> None:
    for power in range(2 * COUNT):
        area = 2 / (power + 1) if power % 2 == 0 else 0.0
        assert (WEIGHTS * POINTS**power).sum() == pytest.approx(area, abs=1e-14)
