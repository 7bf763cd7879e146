"""View: what can be read of terms and a state, for people and programs."""

from __future__ import annotations

from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats, Ints
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import Range
from driftanchor.core.tally import Tally
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known


class View(Tabular):
    """What can be read of terms and a state; nothing here changes them."""

    _now: tuple[Terms, State]  # in one attribute: whoever reads it has two that belong together

    def _moment(self) -> tuple[Terms, State]:
        """Terms and state that belong together."""
        return self._now

    @property
    def terms(self) -> Terms:
        """What was agreed before the first decision."""
        return self._moment()[0]

    @property
    def state(self) -> State:
        """What happened since."""
        return self._moment()[1]

    @property
    def arms(self) -> Arms:
        """All arms ever known, paused ones too."""
        return self.terms.arms

    @property
    def playable(self) -> tuple[str, ...]:
        """The arms that can be pulled."""
        return tuple(label for label, on in zip(self.arms, self.state.playable, strict=True) if on)

    @property
    def policy(self) -> Policy:
        """The rule."""
        return self.terms.policy

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the default policy has its numbers; empty when you gave the policy."""
        return self.terms.reasons

    @property
    def offline(self) -> OfflineData:
        """The logs of every arm."""
        return self.terms.offline

    @property
    def bias_bounds(self) -> Floats:
        """The declared bias bound of every arm; `inf` where there is none."""
        return self.terms.bias_bounds

    @property
    def relative_bounds(self) -> Floats:
        """The declared relative bound of every arm; `inf` where there is none."""
        return self.terms.relative_bounds

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest reward possible."""
        return self.terms.reward_range

    @property
    def seed(self) -> int:
        """The seed of the policy's noise."""
        return self.terms.seed

    @property
    def tally(self) -> Tally:
        """What was seen online."""
        return self.state.tally

    @property
    def pending(self) -> Ints:
        """The pulls of each arm whose reward has not come."""
        return self.state.pending

    @property
    def decisions(self) -> int:
        """How many decisions `pull` made."""
        return self.state.decisions

    def _line(self) -> str:
        return summary(*self._moment())

    def _columns(self) -> dict[str, list[object]]:
        return arm_columns(*self._moment())


def arm_columns(terms: Terms, state: State) -> dict[str, list[object]]:
    """One row for each arm, by columns; a mean is `None` where there are no rewards.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> arm_columns(terms, State.start(terms.arms))["pending"]
        [0, 0]
    """
    logs, tally = terms.offline, state.tally
    return {
        "arm": list(terms.arms),
        "logs_n": logs.n.tolist(),
        "logs_mean": known(logs.mean.tolist()),
        "live_n": tally.pulls.tolist(),
        "live_mean": known(tally.means.tolist()),
        "pending": state.pending.tolist(),
        "paused": (~state.playable).tolist(),
    }


def summary(terms: Terms, state: State) -> str:
    """One line for people.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> summary(terms, State.start(terms.arms))
        'guarded-anchor-ts, 2 arms, 0 logged rewards, 0 decisions, 0 rewards, 0 pending, seed 1'
    """
    paused = int((~state.playable).sum())
    counts = [
        count(len(terms.arms), "arm") + (f" ({paused:,} paused)" if paused else ""),
        count(int(terms.offline.n.sum()), "logged reward"),
        count(state.decisions, "decision"),
        count(int(state.tally.pulls.sum()), "reward"),
        f"{int(state.pending.sum()):,} pending",
    ]
    return ", ".join([terms.policy.name, *counts, f"seed {terms.seed}"])
