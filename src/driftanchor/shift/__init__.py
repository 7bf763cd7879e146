"""Estimate how far arm means moved between past periods, and suggest the bounds V and W.

`suggest` reads the periods into a `PeriodTable` and fits a model of the moves. The model in
`two_way.py` has common moves, which all arms share, and each arm's own moves. If the logs cannot
separate the two, the simpler model in `one_way.py` is used. `next_period.py` has the distribution
of the next period's moves and the bounds that cover them.
"""

from driftanchor.shift.suggest_bounds import suggest
from driftanchor.shift.suggestion import ArmShift, Suggestion, Tau

__all__ = ["ArmShift", "Suggestion", "Tau", "suggest"]
