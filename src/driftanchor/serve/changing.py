"""Changing a campaign: all that a client wants to change happens together, or nothing does."""

from __future__ import annotations

import json
from dataclasses import dataclass

from driftanchor.live.campaigns.arm_requests import AddArm, Distrust, NextEpoch, SetArm, SetPaused
from driftanchor.live.campaigns.batch import NOTHING, Batch, Needs
from driftanchor.live.campaigns.books import Books
from driftanchor.live.campaigns.group_commit import Request
from driftanchor.live.campaigns.new_terms import ChangeTerms
from driftanchor.serve.etag import tag_of
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_bodies import ChangeBody


@dataclass(frozen=True)
class Change:
    """A change of a campaign.

    Attributes:
        steps: What to do, in order.
        wanted: The version that the client saw; `None` if it does not matter.
    """

    steps: tuple[Request, ...]
    wanted: str | None = None
    needs: Needs = NOTHING

    @classmethod
    def of(cls, body: ChangeBody, wanted: str | None = None) -> Change:
        """What a client sent."""
        steps: list[Request] = [
            AddArm(label, arm.summary(), arm.bias_bound, arm.relative_bound)
            for label, arm in body.add.items()
        ]
        # Arms are restored before others are paused: one arm must be left that can be played.
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
        """Do it; the version after it."""
        if self.wanted not in (None, "*", version(batch.books)):
            raise Problem(
                412,
                "changed_meanwhile",
                "the campaign was changed since you looked: look again, then send the change again",
            )
        for step in self.steps:
            step(batch)
        return version(batch.books)


def version(books: Books) -> str:
    """The ETag of a campaign: it changes when the campaign is changed, not when it decides."""
    count = len(books.terms.arms)
    states = [books.row(column).state for column in range(count)]
    seen = [books.head.paused, books.head.epoch, states, sorted(books.distrusted)]
    seen += [entry.seq for entry in books.changes]
    return tag_of(json.dumps(seen).encode())
