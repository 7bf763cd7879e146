"""What all tests share: the hypothesis profile, a kernel cache of their own, new processes, chance.

Tests take these as fixtures; their types are imported for the type checker alone.
"""

import math
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

settings.register_profile("driftanchor", derandomize=True, deadline=None)
settings.load_profile("driftanchor")


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled kernels beside pytest's own cache, where its workers share them."""
    if not hasattr(config, "workerinput"):
        os.environ["XDG_CACHE_HOME"] = str(config.rootpath / ".pytest_cache" / "kernels")


class RunPython(Protocol):
    """Run a program in a new Python and return what it printed."""

    def __call__(self, program: str, env: Mapping[str, str] | None = None) -> str: ...


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """A way to run a program in a new Python, in `tmp_path`; it must end well."""

    def run(program: str, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


class Chance:
    """Statistical checks. `false_alarm` is the probability that a right program fails.

    Seeds are fixed, so a check that passes once passes always; the rate speaks of changing them.
    """

    @staticmethod
    def fits(counts: npt.ArrayLike, expected: npt.ArrayLike, *, false_alarm: float) -> None:
        """Pearson's chi-square test, with the tail bound of Laurent and Massart (2000)."""
        seen, due = np.asarray(counts, np.float64), np.asarray(expected, np.float64)
        statistic = float(((seen - due) ** 2 / due).sum())
        freedom, x = seen.size - 1, math.log(1 / false_alarm)
        assert statistic < freedom + 2 * math.sqrt(freedom * x) + 2 * x, (seen, due)

    @staticmethod
    def same_mean(a: npt.NDArray[Any], b: npt.NDArray[Any], *, false_alarm: float) -> None:
        """Welch's z test that two independent samples have the same mean."""
        error = math.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
        limit = NormalDist().inv_cdf(1 - false_alarm / 2)
        assert abs(a.mean() - b.mean()) < limit * error, (a.mean(), b.mean(), error)


@pytest.fixture(scope="session")
def chance() -> Chance:
    """The statistical checks."""
    return Chance()
