"""Apply all changes of a request to a campaign atomically."""

from __future__ import annotations

import json
from dataclasses import dataclass

from driftanchor.live.campaigns.arm_requests import AddArm, Distrust, NextEpoch, SetArm, SetPaused
from driftanchor.live.campaigns.batch import NOTHING, Batch, Needs, Request
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.new_terms import ChangeTerms
from driftanchor.serve.etag import tag_of
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_bodies import ChangeBody


@dataclass(frozen=True)
class Change:
    """A change of a campaign.

    Attributes:
        steps: The steps, in order.
        wanted: The version the client expects; `None` for any.
    """

    steps: tuple[Request, ...]
    wanted: str | None = None
    needs: Needs = NOTHING

    @classmethod
    def of(cls, body: ChangeBody, wanted: str | None = None) -> Change:
        """Build the change from a request body."""
        steps: list[Request] = [
            AddArm(label, arm.summary(), arm.bias_bound, arm.relative_bound)
            for label, arm in body.add.items()
        ]
        # Restore arms before pausing others: at least one arm must stay playable.
        order = sorted(body.arms.items(), key=lambda item: item[1] != "active")
        steps += [SetArm(label, state) for label, state in order]
        steps += [Distrust(label) for label in body.distrust]
        terms = body.new_terms()
        if terms or body.reason is not None:
            steps.append(ChangeTerms.checked(body.reason, **terms))
        if body.new_epoch:
            steps.append(NextEpoch())
        if body.paused is not None:
            steps.append(SetPaused(body.paused))
        return cls(tuple(steps), wanted)

    def __call__(self, batch: Batch) -> str:
        """Apply the change; return the new version."""
        if self.wanted not in (None, "*", version(batch.current)):
            raise Problem(
                412,
                "changed_meanwhile",
                "the campaign has changed since you read it: read it, then send the change again",
            )
        for step in self.steps:
            step(batch)
        return version(batch.current)


def version(current: CampaignState) -> str:
    """Return the ETag of a campaign; it changes with its configuration, not with decisions."""
    count = len(current.terms.arms)
    states = [current.row(column).state for column in range(count)]
    seen = [current.counters.paused, current.counters.epoch, states, sorted(current.distrusted)]
    seen += [entry.seq for entry in current.changes]
    return tag_of(json.dumps(seen).encode())
