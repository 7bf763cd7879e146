"""The tables that normals are drawn with."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from driftanchor.core.ziggurat import DENSITY, EDGE, TAIL


def test_the_ziggurat_has_256_layers_of_equal_area() -> None:
    assert EDGE.size == DENSITY.size == 257
    assert EDGE[1] == TAIL
    assert EDGE[256] == 0.0
    assert (np.diff(EDGE) < 0).all()
    tail = math.sqrt(math.pi / 2) * math.erfc(TAIL / math.sqrt(2))
    area = TAIL * math.exp(-TAIL * TAIL / 2) + tail
    assert EDGE[0] == pytest.approx(area / math.exp(-TAIL * TAIL / 2), rel=1e-14)
    np.testing.assert_allclose(EDGE[1:-1] * np.diff(DENSITY[1:]), area, rtol=1e-9)


def test_the_ziggurat_follows_its_recursion() -> None:
    area = EDGE[0] * math.exp(-TAIL * TAIL / 2)
    for here, above in itertools.pairwise(EDGE[1:-1].tolist()):
        height = area / here + math.exp(-here * here / 2)
        assert above == pytest.approx(math.sqrt(-2 * math.log(height)), rel=1e-10)
    top = area / EDGE[255] + math.exp(-EDGE[255] * EDGE[255] / 2)
    assert top == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(DENSITY, [math.exp(-0.5 * x * x) for x in EDGE.tolist()])
