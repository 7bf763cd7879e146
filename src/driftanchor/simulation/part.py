"""Part: some runs of one policy, small enough to be sent to where they are played."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from driftanchor.core.check import Floats, Ints
from driftanchor.policies.base import Policy
from driftanchor.simulation.bandit import Bandit

CHUNK_ROUNDS = 1_000_000  # in a part: a fraction of a second, so that progress shows
Played = tuple[Floats, Ints]  # regret by (run, checkpoint), pulls by (run, arm)


@dataclass(frozen=True, eq=False)
class Part:
    """Some runs of one policy, and all that their numbers depend on.

    Attributes:
        name: What the policy is called in messages.
        policy: The policy.
        bandit: The world.
        checkpoints: The rounds after which regret is read; the last is the horizon.
        engine: What plays it; not `"auto"`.
        seed: Of all noise.
        first: The first of its runs.
        runs: How many they are.
    """

    name: str
    policy: Policy
    bandit: Bandit
    checkpoints: Ints
    engine: str
    seed: int
    first: int
    runs: int

    @property
    def horizon(self) -> int:
        """Rounds in a run."""
        return int(self.checkpoints[-1])

    @property
    def is_compiled(self) -> bool:
        """Whether Numba plays it."""
        return self.engine not in ("interpreted", "vectorised")

    @property
    def rows(self) -> slice:
        """Where its runs stand among those of the policy."""
        return slice(self.first, self.first + self.runs)

    def cut(self, chunk: int) -> Iterator[Part]:
        """The same runs in parts of at most `chunk`."""
        for first in range(self.rows.start, self.rows.stop, chunk):
            runs = min(chunk, self.rows.stop - first)
            yield dataclasses.replace(self, first=first, runs=runs)
