"""Both rules are exact for the polynomials that they are made for."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor.core.kronrod import GAUSS, KRONROD, PLACES


def test_polynomials_are_integrated_exactly() -> None:
    for power in range(23):  # 3·7 + 2 for Kronrod's, 2·7 for Gauss's
        area = 2 / (power + 1) if power % 2 == 0 else 0.0
        assert (KRONROD * PLACES**power).sum() == pytest.approx(area, abs=1e-14)
        if power < 14:
            assert (GAUSS * PLACES**power).sum() == pytest.approx(area, abs=1e-14)


def test_every_second_place_is_gausss() -> None:
    assert PLACES[1::2] == pytest.approx(np.polynomial.legendre.leggauss(7)[0], abs=1e-15)
    assert not GAUSS[::2].any()
