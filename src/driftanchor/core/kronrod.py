"""Kronrod's rule of 15 points on −1 to 1, and Gauss's of 7 on every second of them.

The two together integrate, and say how far off they may be (Kronrod 1965).
"""

from __future__ import annotations

import numpy as np

_PLACES = (
    0.9914553711208126,
    0.9491079123427585,
    0.8648644233597691,
    0.7415311855993944,
    0.5860872354676911,
    0.4058451513773972,
    0.2077849550078985,
)
_WEIGHTS = (
    0.0229353220105292,
    0.0630920926299786,
    0.1047900103222502,
    0.1406532597155259,
    0.1690047266392679,
    0.1903505780647854,
    0.2044329400752989,
)
_MIDDLE = 0.2094821410847278

PLACES = np.array([*(-x for x in _PLACES), 0.0, *reversed(_PLACES)])
KRONROD = np.array([*_WEIGHTS, _MIDDLE, *reversed(_WEIGHTS)])
GAUSS = np.zeros(PLACES.size)  # 0 at the places that are Kronrod's alone
GAUSS[1::2] = np.polynomial.legendre.leggauss(7)[1]
