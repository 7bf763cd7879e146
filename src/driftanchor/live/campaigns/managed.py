"""Managed: how a campaign is run: pause, resume, epochs, arms."""

from __future__ import annotations

from typing import Any

from driftanchor.core import check
from driftanchor.core.offline import Summary
from driftanchor.live.campaigns import arm_requests
from driftanchor.live.campaigns.handle import Handle


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
