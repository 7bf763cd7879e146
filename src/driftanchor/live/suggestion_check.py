"""Whether a suggestion that is given as a bound promises anything of the logs at hand."""

import math
import warnings

from driftanchor.core.offline import OfflineData
from driftanchor.errors import shown
from driftanchor.shift.suggestion import Suggestion


def warn_of_suggestion(
    name: str, given: object, offline: OfflineData, *, stacklevel: int = 4
) -> None:
    """Warn of a suggestion without a bound, and of one that was made from other arms.

    Both are easily overlooked.

    Args:
        name: `"bias_bound"` or `"relative_bound"`.
        given: What was given for it, a suggestion or not.
        offline: The logs that it is used for.
        stacklevel: Which line the warning names: by default the one that called the caller's
            caller, which makes a learner or adds an arm to it.
    """
    if not isinstance(given, Suggestion):
        return
    if math.isinf(getattr(given, name)):
        meaning = given.meaning if name == "bias_bound" else given.relative_meaning
        warnings.warn(
            f"{name} is a Suggestion without a bound (inf), so it promises nothing. {meaning} Give "
            f"{name} a number, or inf for no promise",
            stacklevel=stacklevel,
        )
        return
    logged = [label for label, n in zip(offline.arms, offline.n, strict=True) if n > 0]
    strangers = [label for label in logged if label not in given.arms]
    if strangers:
        warnings.warn(
            f"{name} is a Suggestion from other arms: it saw {shown(list(given.arms))}, and never "
            f"{shown(strangers)}. Make it from the periods of these arms too, or give {name} the "
            "number if all arms move alike",
            stacklevel=stacklevel,
        )
