"""Policies in files of their own, as people write them."""

GREEDY = "return arm.total / (arm.pulls + 1)"
TEXT = """
import math
import time
from dataclasses import dataclass
from driftanchor import Policy

@dataclass(frozen=True, kw_only=True)
class Own(Policy):
    name = "own"
    formula = "none"
    source = "a test"

    def index(self, arm, now, z):
        RULE
"""


def own_policy(rule: str = GREEDY) -> str:
    """The text of a file with a policy whose index has this body."""
    return TEXT.replace("RULE", rule)
