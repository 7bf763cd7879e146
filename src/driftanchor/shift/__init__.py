"""How far the arms moved between periods of the past, and the bounds that follow from it.

`suggest` reads periods into a `period_table`, fits the `period_model` and writes the suggestion.
`two_way.py` has the model of common and own moves, `two_way_moves.py` what it says of the next
period. `one_way.py` and `one_way_moves.py` do the same if the two cannot be separated.
"""

from driftanchor.shift.suggest_bounds import suggest
from driftanchor.shift.suggestion import ArmShift, Suggestion, Tau

__all__ = ["ArmShift", "Suggestion", "Tau", "suggest"]
