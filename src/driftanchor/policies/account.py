"""Account: a decision and the numbers behind it, as a policy writes them down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws

if TYPE_CHECKING:
    from driftanchor.policies.base import Policy


class Account(NamedTuple):
    """A decision and the numbers behind it.

    Attributes:
        column: What is played.
        arms: The index of every arm and its named parts; empty where the policy names none.
        leader: In a guard pull the arm that it is compared with, otherwise `None`.
        skipped: Where a guard pull was due and, by chance, was not played, the arm that it would
            have been compared with; otherwise `None`.
        guard_share: The probability with which a guard pull that is due is played.
    """

    column: int
    arms: list[tuple[float, dict[str, float]]]
    leader: int | None
    skipped: int | None = None
    guard_share: float = 1.0


class Recorder:
    """Stands in for a policy and writes down each index it gives."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.given: list[tuple[float, dict[str, float]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """The policy's index, written down with its parts."""
        value = self._policy.index(arm, now, z)
        self.given.append((value, self._policy.explain(arm, now, z)))
        return value
