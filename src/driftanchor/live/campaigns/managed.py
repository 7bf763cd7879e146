"""Managed: how a campaign is run: pause, resume, epochs, arms, changed terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftanchor.core import check
from driftanchor.core.offline import Summary
from driftanchor.live.campaigns import arm_requests
from driftanchor.live.campaigns.handle import Handle
from driftanchor.live.campaigns.new_terms import ChangeTerms
from driftanchor.live.campaigns.settings import KEEP, Keep


class Managed(Handle):
    """The arms of a campaign, its epoch, its windows, and whether it runs."""

    def sweep(self) -> int:
        """Close all decisions whose window is over; returns how many there were.

        Each `ask` and `tell` closes some of them, and `status` closes all, so you rarely need this.
        """
        return self._sweep()

    def pause(self) -> None:
        """Make no new decisions; rewards are still learned from."""
        self._do(arm_requests.SetPaused(True))

    def resume(self) -> None:
        """Make decisions again."""
        self._do(arm_requests.SetPaused(False))

    def new_epoch(self) -> int:
        """Give every unit a new decision from now on; returns the number of the new epoch."""
        epoch: int = self._do(arm_requests.NextEpoch())
        return epoch

    def change(
        self,
        reason: str,
        *,
        reward_window: float | Keep | None = KEEP,
        default_reward: float | Keep | None = KEEP,
        floor: float | Keep = KEEP,
        control: Mapping[str, float] | Keep = KEEP,
        allow_outside: bool | Keep = KEEP,
        bias_bound: object = KEEP,
        relative_bound: object = KEEP,
    ) -> None:
        """Change settings or bounds from now on; a value that is in force already is no change.

        The past keeps its terms: a decision made before keeps its window and its default reward,
        and is explained by the floors and bounds of its time. The change is an event with its
        reason, and `status` shows it.

        Args:
            reason: Why, for those who read the history later.
            reward_window: Seconds in which a reward counts; `None` to wait for ever.
            default_reward: The reward that counts if none arrives; `None` for none.
            floor: The smallest probability of each arm.
            control: Arms with a larger floor, in place of all such arms before.
            allow_outside: Whether rewards far outside the logged ones are accepted.
            bias_bound: V, as for `Campaign.create`; `inf` to promise nothing.
            relative_bound: W, as for `Campaign.create`; `inf` to promise nothing.

        Raises:
            InvalidInput: Nothing is given, a value is wrong, or the reason is missing.
        """
        self._do(
            ChangeTerms.checked(
                reason,
                reward_window=reward_window,
                default_reward=default_reward,
                floor=floor,
                control=control,
                allow_outside=allow_outside,
                bias_bound=bias_bound,
                relative_bound=relative_bound,
            )
        )

    def add_arm(
        self,
        label: str,
        offline: Summary = (0,),
        bias_bound: float | None = None,
        relative_bound: float | None = None,
    ) -> None:
        """Add an arm, which takes part from now on; arguments as for `Learner.add_arm`."""
        logs: Any = tuple(check.items(offline, "offline"))
        self._do(arm_requests.AddArm(label, logs, bias_bound, relative_bound))

    def pause_arm(self, label: str) -> None:
        """Stop drawing this arm; units that hold a decision for it keep that decision."""
        self._do(arm_requests.SetArm(label, "paused"))

    def archive_arm(self, label: str) -> None:
        """Stop playing this arm; units that hold a decision for it get a new one."""
        self._do(arm_requests.SetArm(label, "archived"))

    def restore_arm(self, label: str) -> None:
        """Play a paused or archived arm again; what was learned about it is kept."""
        self._do(arm_requests.SetArm(label, "active"))

    def distrust_arm(self, label: str) -> None:
        """Ignore the logs of this arm from now on, as after a shift alarm."""
        self._do(arm_requests.Distrust(label))
