"""Early results: one line of text for each result known before the end."""

from __future__ import annotations

from collections.abc import Callable

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.planning.contenders import Contenders
from driftanchor.planning.words import number

Early = Callable[[str], None]


class EarlyNumbers:
    """Says what each contender lost in one scene, as soon as it has played there.

    Args:
        scene: The name of the scene.
        contenders: All of them.
        say: Called with each line.
    """

    def __init__(self, scene: tuple[str, float], contenders: Contenders, say: Early) -> None:
        self.scene = scene
        self.contenders = contenders
        self.say = say

    def __call__(self, scene: object, label: str, lost: Floats) -> None:
        """A contender has played a scene."""
        if scene == self.scene:
            how = "without" if self.contenders[label].cold else "with"
            self.say(f"{label} {how} the logs: loses {loss(lost)}")


def loss(lost: Floats) -> str:
    """The mean and its standard error, as in the tables.

    Example:
        >>> import numpy as np
        >>> loss(np.array([20.0, 30.0] * 50))
        '25.0 ± 0.503'
    """
    return f"{number(float(lost.mean()))} ± {number(float(standard_error(lost)))}"
