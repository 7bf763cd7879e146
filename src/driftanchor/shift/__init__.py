"""How far the arms moved between periods of the past, and the bounds that follow from it.

`suggest.py` is the entry. `twoway.py` has the model of common and own moves, `moves.py` what it
says of the next period. `between.py` and `belief.py` do the same for moves of one kind.
"""

from driftanchor.shift.suggest import suggest
from driftanchor.shift.suggestion import ArmShift, Suggestion, Tau

__all__ = ["ArmShift", "Suggestion", "Tau", "suggest"]
