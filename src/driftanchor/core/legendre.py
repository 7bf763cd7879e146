"""Nodes and weights of Gauss–Legendre quadrature on [−1, 1]."""

from __future__ import annotations

import numpy as np

COUNT = 10
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(COUNT)
