"""The places and weights of Gauss and Legendre's rule on −1 to 1."""

from __future__ import annotations

import numpy as np

COUNT = 10
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(COUNT)
