"""Simulated worlds, the runs of policies in them, and their results.

The package and its main function share a name, and importing one hides the other. So the package
can be called: `driftanchor.simulate(...)` works whichever of the two Python finds there.
"""

import sys
import types

from driftanchor.simulate.bandit import COVERAGES, LAWS, Bandit, cover
from driftanchor.simulate.result import STATISTICS, Result
from driftanchor.simulate.run import ENGINES, simulate

__all__ = ["COVERAGES", "ENGINES", "LAWS", "STATISTICS", "Bandit", "Result", "cover", "simulate"]


class _CallableModule(types.ModuleType):
    __call__ = staticmethod(simulate)


sys.modules[__name__].__class__ = _CallableModule
