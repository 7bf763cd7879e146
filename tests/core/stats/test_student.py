"""Quantiles of Student's t against printed tables."""

import pytest

from driftanchor.core.stats.student import student


def test_student_is_as_in_the_tables() -> None:
    assert student(0.001, 4) == pytest.approx(8.610, abs=5e-4)
    assert student(0.01, 10) == pytest.approx(3.169, abs=5e-4)
    assert student(0.001, 30) == pytest.approx(3.646, abs=5e-4)
