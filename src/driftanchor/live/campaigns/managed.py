"""Managed: operations on a running campaign: pause, resume, epochs, arms, settings."""

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
    """Operations that manage a running campaign."""

    def sweep(self) -> int:
        """Close all decisions whose window is over; return how many there were.

        Each `ask` and `tell` closes some of them, and `status` closes all, so you rarely need this.
        """
        return self._sweep()

    def pause(self) -> None:
        """Pause the campaign: make no new decisions, but still learn from rewards."""
        self._do(arm_requests.SetPaused(True))

    def resume(self) -> None:
        """Resume making decisions."""
        self._do(arm_requests.SetPaused(False))

    def new_epoch(self) -> int:
        """Start a new epoch, in which every unit gets a new decision; return its number."""
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
        """Change settings or bounds from now on; values already in force change nothing.

        Earlier decisions keep their window and default reward, and `explain` uses the floors and
        bounds of their time. The change is recorded as an event with its reason, and `status`
        shows it.

        Args:
            reason: The reason, recorded in the history.
            reward_window: Seconds within which a reward counts; `None` to wait forever.
            default_reward: The reward to count if none arrives; `None` to count nothing.
            floor: The minimum probability of each arm.
            control: Arms with a larger floor; replaces the earlier ones.
            allow_outside: Whether rewards far outside the logged ones are accepted.
            bias_bound: V, as for `Campaign.create`; `inf` for no bound.
            relative_bound: W, as for `Campaign.create`; `inf` for no bound.

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
        """Add an arm; the arguments are those of `Learner.add_arm`."""
        logs: Any = tuple(check.items(offline, "offline"))
        self._do(arm_requests.AddArm(label, logs, bias_bound, relative_bound))

    def pause_arm(self, label: str) -> None:
        """Stop drawing this arm; units that have a decision for it keep it."""
        self._do(arm_requests.SetArm(label, "paused"))

    def archive_arm(self, label: str) -> None:
        """Stop playing this arm; units that have a decision for it get a new one."""
        self._do(arm_requests.SetArm(label, "archived"))

    def restore_arm(self, label: str) -> None:
        """Play a paused or archived arm again, with everything learned about it."""
        self._do(arm_requests.SetArm(label, "active"))

    def distrust_arm(self, label: str) -> None:
        """Ignore the logs of this arm from now on, as after a shift alarm."""
        self._do(arm_requests.Distrust(label))
