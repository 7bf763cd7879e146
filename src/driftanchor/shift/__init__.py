"""How far the arms moved between periods of the past, and the bias bound that follows from it.

`suggest.py` is the entry. `between.py` has the random-effects model, `belief.py` what it says of
the next period.
"""

from driftanchor.shift.suggest import suggest
from driftanchor.shift.suggestion import ArmShift, Suggestion, Tau

__all__ = ["ArmShift", "Suggestion", "Tau", "suggest"]
