"""Explanations: one decision with every number behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from driftanchor.core import record
from driftanchor.core.common_move import common_move
from driftanchor.core.evidence import Evidence
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import Account, Policy, moves_together
from driftanchor.render.numbers import count
from driftanchor.render.table import Table

MAX_NAMED = 5  # arms in a sentence


@dataclass(frozen=True)
class ArmExplanation:
    """One arm in one decision.

    Attributes:
        index: Its index.
        parts: The named numbers behind the index. For Anchor-TS these are `anchor`,
            `online_sample` and `hybrid_sample`. The guarded rule has `guess` in place of the
            anchor. In a guard pull its index is an upper bound, with the parts `guess`,
            `audit_bound`, `online_bound` and `hybrid_bound`.
        decided_by: The part that the index equals; for Anchor-TS the median of the three.
        playable: Whether the arm could be played.
    """

    index: float
    parts: Mapping[str, float]
    decided_by: str | None
    playable: bool


@dataclass(frozen=True)
class Explanation:
    """One decision: the arm, the reason, and the numbers of every arm. It prints as a table.

    Attributes:
        decision: The number of the decision.
        policy: The policy's name.
        arm: The arm that was played.
        guard: Whether it was a guard pull. It draws no samples, so the arm had probability 1,
            unless arms tie or the policy's `guard_share` is below 1.
        reason: The reason in words.
        arms: The numbers of every arm.
        common_move: The policy's belief about how far all arms moved together since the logs, if
            there is a relative bound. The decision drew it once for all arms.
        floor: Whether the arm was drawn for its floor, without the policy.
    """

    decision: int
    policy: str
    arm: str
    guard: bool
    reason: str
    arms: Mapping[str, ArmExplanation]
    common_move: Posterior | None = None
    floor: bool = False

    @classmethod
    def of(
        cls,
        policy: Policy,
        evidence: Evidence,
        account: Account,
        labels: Sequence[str],
        decision: int,
    ) -> Explanation:
        """Build the explanation from a policy's `account` of a decision."""
        arms = {
            label: ArmExplanation(
                float(value),
                {name: float(x) for name, x in parts.items()},
                next((name for name, x in parts.items() if x == value), None),
                bool(evidence.playable[column]),
            )
            for column, (label, (value, parts)) in enumerate(
                zip(labels, account.arms, strict=False)
            )
        }
        arm, guard = labels[account.column], account.leader is not None
        reason = _reason(arm, arms, "upper bound" if guard else "index")
        if account.leader is not None:
            odds = _odds(account.guard_share)
            reason = f"guard pull{odds} beside the leader {labels[account.leader]!r}: {reason}"
        elif account.skipped is not None:
            odds = _odds(account.guard_share)
            reason = (
                f"a guard pull{odds} beside the leader {labels[account.skipped]!r} was due and, by "
                f"chance, not played: {reason}"
            )
        belief = None
        if arms and moves_together(policy, evidence):  # custom rules may record no numbers
            common = common_move(evidence, policy.noise)
            belief = Posterior(float(common.mean), float(common.sd))
        return cls(decision, policy.name, arm, guard, reason, arms, belief)

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        arms = {
            label: {
                "index": record.encode(arm.index),
                "parts": {name: record.encode(x) for name, x in arm.parts.items()},
                "decided_by": arm.decided_by,
                "playable": arm.playable,
            }
            for label, arm in self.arms.items()
        }
        body = {
            "decision": self.decision,
            "policy": self.policy,
            "arm": self.arm,
            "guard": self.guard,
            "reason": self.reason,
            "arms": arms,
            "common_move": None if self.common_move is None else self.common_move._asdict(),
        }
        return record.seal("explanation", 1, body)

    def sentences(self) -> list[str]:
        """Describe the decision and the common move in sentences."""
        moved = [] if self.common_move is None else [_moved(self.common_move)]
        return [f"Decision {self.decision}: {self.reason}", *moved]

    def table(self) -> Table:
        """Return the numbers of every arm; a star marks the played arm."""
        parts = list(dict.fromkeys(name for arm in self.arms.values() for name in arm.parts))
        rows = []
        for label, arm in self.arms.items():
            numbers = [f"{arm.parts[name]:.4g}" if name in arm.parts else "" for name in parts]
            by = (arm.decided_by or "") if arm.playable else "not playable"
            mark = "* " if label == self.arm else "  "
            rows.append((mark + label, *numbers, f"{arm.index:.4g}", by))
        head = ("arm", *parts, "index", "decided by")
        return Table("", head, tuple(rows), text=frozenset({0, len(head) - 1}))

    def __str__(self) -> str:
        if not self.arms:  # the policy names no numbers
            return "\n".join(self.sentences())
        table = self.table()
        rows = [table.headings, *table.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(table.headings))]
        lines = ["  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*self.sentences(), *(x.rstrip() for x in lines)])


def _odds(share: float) -> str:
    return "" if share == 1.0 else f" of probability {share:g}"


def _moved(common: Posterior) -> str:
    if common.sd == 0:  # a bias bound of 0 leaves nothing else
        return "The common move of all arms since the logs is taken for 0"
    return (
        f"All arms are believed to have moved by {common.mean:.4g} together since the logs "
        f"(standard deviation {common.sd:.4g})"
    )


def _some(labels: list[str]) -> str:
    """Format the first labels of a list."""
    rest = len(labels) - MAX_NAMED
    more = f" and {count(rest, 'other')}" if rest > 0 else ""
    return ", ".join(map(repr, labels[:MAX_NAMED])) + more


def _reason(arm: str, arms: Mapping[str, ArmExplanation], index: str) -> str:
    if arm not in arms:
        return f"{arm!r} was chosen by the policy's own rule"
    won = arms[arm]
    rivals = {label: x for label, x in arms.items() if x.playable and label != arm}
    tied = [label for label, x in rivals.items() if x.index == won.index]
    text = f"{arm!r} has the largest {index}, {won.index:.4g}"
    if won.decided_by:
        others = [f"{name} {x:.4g}" for name, x in won.parts.items() if name != won.decided_by]
        text += f": its {won.decided_by}" + (f" (against {', '.join(others)})" if others else "")
    if tied:
        text += f"; a tie with {_some(tied)}, broken at random"
    elif rivals:
        second = max(rivals, key=lambda label: rivals[label].index)
        text += f"; next is {second!r} with {rivals[second].index:.4g}"
    return text
