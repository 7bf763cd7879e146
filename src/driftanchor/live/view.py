"""View: what can be read of terms and a state, for people and programs."""

from __future__ import annotations

from typing import Any

from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats, Ints
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally
from driftanchor.live import status
from driftanchor.live.reward_range import Range
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy
from driftanchor.render.data_frame import to_frame
from driftanchor.render.notebook import html_table


class View:
    """What can be read of terms and a state; nothing here changes them.

    Attributes:
        terms: What was agreed before the first decision.
        state: What happened since.
    """

    terms: Terms
    state: State

    @property
    def arms(self) -> Arms:
        """All arms ever known, retired ones too."""
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

    def to_frame(self) -> Any:
        """Each arm's logs, live rewards and pending pulls, as a pandas or polars frame."""
        return to_frame(status.arm_columns(self.terms, self.state))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {status.summary(self.terms, self.state)}>"

    def _repr_html_(self) -> str:
        caption = f"{type(self).__name__}: {status.summary(self.terms, self.state)}"
        columns = status.arm_columns(self.terms, self.state)
        return html_table({k.replace("_", " "): x for k, x in columns.items()}, caption)
