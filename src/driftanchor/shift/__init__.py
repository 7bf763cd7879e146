"""How far the arms moved between periods of the past, and the bounds that follow from it.

`suggest` reads periods into a `PeriodTable` and fits a model of their moves. `two_way.py` models
moves that all arms share and each arm's own moves. `one_way.py` replaces it if the logs cannot
separate the two. `next_period.py` has the moves of the next period and the bound that covers them.
"""

from driftanchor.shift.suggest_bounds import suggest
from driftanchor.shift.suggestion import ArmShift, Suggestion, Tau

__all__ = ["ArmShift", "Suggestion", "Tau", "suggest"]
