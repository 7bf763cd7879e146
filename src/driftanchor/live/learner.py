"""Learner: decide and learn in one process."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.core.evidence import Evidence, Round, gather
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.core.tally import Tally
from driftanchor.errors import DriftanchorError, InvalidInput, UnreadableState, shown
from driftanchor.files import write_whole
from driftanchor.live import inputs, pending
from driftanchor.live.explanation import Explanation, explain
from driftanchor.policies.base import Policy


class Learner:
    """Pulls arms, learns from rewards, and can say why.

    The noise of decision n is a function of (seed, n): a learner saved and loaded goes on exactly
    where it was, and a decision can be explained from the evidence it had. Rewards may come late,
    in batches and in any order: pulls that wait for theirs are counted as pending, and a guard pull
    on its way is not made again. Not meant to be shared between threads.

    Attributes:
        policy: The rule.
        reasons: Why the default policy has the numbers it has; empty when you gave the policy.
        offline: The logs of every arm.
        bias_bounds: The declared bias bound of every arm.
        relative_bounds: The declared relative bound of every arm; `inf` where there is none.
        tally: What was seen online.
        pending: Pulls of each arm whose reward has not come.
        seed: Of the policy's noise.
        decisions: How many pulls were asked for.

    Example:
        >>> from driftanchor import AnchorTS, OfflineData
        >>> offline = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48)})
        >>> learner = Learner(AnchorTS(), offline=offline, bias_bound=0.05, seed=1)
        >>> arm = learner.pull()
        >>> learner.update(arm, 1.0)
        >>> learner.tally.pulls.sum()
        np.int64(1)
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        offline: OfflineData | None = None,
        arms: Iterable[str] | None = None,
        bias_bound: object = None,
        relative_bound: object = None,
        bias_bound_source: str | None = None,
        reward_range: object = None,
        seed: int | None = None,
    ) -> None:
        """Start with no online rewards.

        Args:
            policy: The rule; `None` for `GuardedAnchorTS` in the units of the logs, or of
                `reward_range`. `AnchorTS()` is the paper's, in its own units.
            offline: What the logs say; `None` for no logs, and then `arms` names the arms.
            arms: The labels, in the order wanted; arms that the logs lack have none.
            bias_bound: How far an arm's online mean may be from its offline mean: one number, or
                a mapping from labels; `inf` where nothing is known. With logs, this or
                `relative_bound` is needed.
            relative_bound: How far it may be from there after a common move of all arms, which may
                be anything and is learned: as above. Where both are given both hold, and the
                tighter decides.
            bias_bound_source: Where these numbers come from, for the default policy: `"proved"`,
                `"estimated"` or `"guessed"`. The less sure, the more it tries arms whatever their
                logs say (ε = 0, 0.1, 0.25); `None` for `"estimated"`.
            reward_range: Lowest and highest reward possible; others are refused.
            seed: Of the policy's noise; `None` draws one, which `save` keeps.
        """
        if offline is not None and not isinstance(offline, OfflineData):
            raise InvalidInput(f"offline must be OfflineData, got {offline!r}")
        if offline is None and arms is None:
            raise InvalidInput("arms is missing: name the arms, or give offline data")
        self.offline = inputs.over(offline, arms)
        self.reward_range = inputs.valid_range(reward_range)
        level, relative = inputs.promises(bias_bound, relative_bound, self.offline)
        self.bias_bounds, self.relative_bounds = inputs.checked(level, relative, self.offline)
        self.tally = Tally.empty(self.arms)
        self.pending = pending.none(self.arms)
        self.seed = secrets.randbits(53) if seed is None else check.whole(seed, "seed")
        self.decisions = 0
        self._playable = np.ones(len(self.arms), np.bool_)
        self.policy, self.reasons = inputs.rule(
            policy, self.offline, self.reward_range, bias_bound_source
        )
        self._memory = np.zeros((len(self.arms), self.policy.memory))
        self._last: tuple[Evidence, Round] | None = None

    @property
    def arms(self) -> Arms:
        """All arms ever known, retired ones too."""
        return self.offline.arms

    @property
    def playable(self) -> tuple[str, ...]:
        """The arms that can be pulled."""
        return tuple(label for label, on in zip(self.arms, self._playable, strict=True) if on)

    def pull(self, exclude: Iterable[str] = ()) -> str:
        """Decide which arm to play now.

        Args:
            exclude: Arms that cannot be played this time.
        """
        evidence, now = self._situation(exclude)
        before = evidence._replace(memory=self._memory.copy())
        with wrapping():
            stream = keyed_stream(self.seed, "decision", self.decisions + 1)
            chosen = self.policy.choose(evidence, now, stream)
        if chosen not in np.flatnonzero(evidence.playable):
            raise InvalidInput(
                f"policy {self.policy.name!r} chose {shown(chosen)}, which is no arm that can be "
                "played: every index may be NaN, or its choose is wrong"
            )
        self.decisions += 1
        self._last = (before, now)
        self.pending = pending.pulled(self.pending, chosen)
        return self.arms[chosen]

    def probabilities(self, exclude: Iterable[str] = (), draws: int = 1_000) -> dict[str, float]:
        """With which probability `pull` would play each arm now, over the policy's noise.

        Counted over `draws` decisions made on the same evidence with noise of their own: each has
        a standard error of at most 1/(2 √draws). Where nothing is drawn, as in a guard pull, one
        arm has probability 1. Nothing changes, and asking again gives the same.

        Args:
            exclude: As for `pull`.
            draws: How many decisions to count.

        Example:
            >>> Learner(arms=["A", "B"], seed=1).probabilities(exclude=["B"])
            {'A': 1.0, 'B': 0.0}
        """
        count = check.whole(draws, "draws", low=1, high=10**7)
        evidence, now = self._situation(exclude)
        chosen = np.zeros(len(self.arms), np.int64)
        with wrapping():
            for i in range(count):
                again = evidence._replace(memory=self._memory.copy())
                stream = keyed_stream(self.seed, "probability", self.decisions + 1, i)
                chosen[self.policy.choose(again, now, stream)] += 1
        return dict(zip(self.arms, (chosen / count).tolist(), strict=True))

    @overload
    def update(self, arm: str, reward: float) -> None: ...
    @overload
    def update(self, arm: Sequence[str], reward: Sequence[float]) -> None: ...
    def update(self, arm: str | Sequence[str], reward: float | Sequence[float]) -> None:
        """Learn from one reward, or from many: a batch equals the loop over it.

        Nothing is learned from a batch in which one arm or reward is refused. A reward ends the
        wait of one pending pull of its arm, if there is any.
        """
        columns, rewards = inputs.rewards(arm, reward, self.arms, self.reward_range)
        self.tally = self.tally.add_many(columns, rewards)
        self.pending = pending.rewarded(self.pending, columns)

    def drop_pending(self, arm: str | None = None, count: int | None = None) -> None:
        """Stop waiting for rewards that will never come.

        Args:
            arm: Of which arm; `None` for all arms.
            count: How many pulls; `None` for all of that arm.
        """
        self.pending = pending.dropped(self.pending, self.arms, arm, count)

    def explain(self) -> Explanation:
        """Why the last pull since this learner was made or loaded went where it went."""
        if self._last is None:
            raise InvalidInput("nothing to explain yet: call pull() first")
        evidence, now = self._last
        stream = keyed_stream(self.seed, "decision", self.decisions)
        again = evidence._replace(memory=evidence.memory.copy())
        labels = self.arms[: len(evidence.pulls)]
        return explain(self.policy, again, now, stream, labels, self.decisions)

    def add_arm(
        self,
        label: str,
        offline: Summary = (0,),
        bias_bound: float | None = None,
        relative_bound: float | None = None,
    ) -> None:
        """Let a new arm take part from now on.

        Args:
            label: Its label.
            offline: (n, mean) or (n, mean, variance) of its logs, if it has any.
            bias_bound: Its bias bound; this or a relative bound is needed when it has logs.
            relative_bound: How far it may have moved from the other arms since.
        """
        wider = self.offline.with_arm(label, offline)
        alone = OfflineData.from_summary({label: offline})
        level, relative = inputs.promises(bias_bound, relative_bound, alone)
        self.bias_bounds, self.relative_bounds = inputs.checked(
            np.append(self.bias_bounds, level), np.append(self.relative_bounds, relative), wider
        )
        self.tally, self.offline = self.tally.with_arm(label), wider
        self.pending = check.frozen(np.append(self.pending, 0))
        self._playable = np.append(self._playable, True)
        self._memory = np.vstack([self._memory, np.zeros((1, self.policy.memory))])

    def retire_arm(self, label: str) -> None:
        """Never pull this arm again; late rewards of it are still learned from."""
        column = self.arms.column(label)
        if self._playable[column] and self._playable.sum() == 1:
            raise InvalidInput(
                f"arm {label!r} is the last one that can be played: add another first"
            )
        self._playable[column] = False

    def restore_arm(self, label: str) -> None:
        """Let a retired arm take part again, with all it had learned."""
        self._playable[self.arms.column(label)] = True

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, whole or not at all."""
        text = json.dumps(self.to_json(), indent=1, allow_nan=False)
        with write_whole(path) as file:
            file.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> Learner:
        """Go on where `save` left off.

        Args:
            path: The file.
            policy: The policy it was saved with, when that is not one of this package.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, TypeError, ValueError) as error:
            raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
        try:
            return cls.from_json(record.parse(text), policy)
        except DriftanchorError as error:
            raise UnreadableState(f"{str(path)!r}: {error}") from error

    def to_json(self) -> record.Record:
        """A JSON-ready record of everything."""
        low, high = self.reward_range
        body = {
            "policy": {
                "name": self.policy.name,
                "class": type(self.policy).__name__,
                "parameters": self.policy.parameters(),
            },
            "offline": self.offline.to_json(),
            "bias_bounds": [record.encode(x) for x in self.bias_bounds.tolist()],
            "relative_bounds": [record.encode(x) for x in self.relative_bounds.tolist()],
            "tally": self.tally.to_json(),
            "pending": self.pending.tolist(),
            "reward_range": [record.encode(low), record.encode(high)],
            "seed": self.seed,
            "decisions": self.decisions,
            "playable": self._playable.tolist(),
            "memory": self._memory.tolist(),
        }
        # A driftanchor that knows no relative bounds must not take the logs without them.
        version = 2 if np.isfinite(self.relative_bounds).any() else 1
        return record.seal("learner", version, body)

    @classmethod
    def from_json(cls, data: object, policy: Policy | None = None) -> Learner:
        """Read what `to_json` wrote; see `load`."""
        body = record.unseal(data, "learner", 2, _FIELDS)
        if body["version"] > 1 and body.get("relative_bounds") is None:
            raise UnreadableState("the learner record lacks 'relative_bounds': the file is damaged")
        offline = OfflineData.from_json(body["offline"])
        relative = body.get("relative_bounds")  # records written before there were any lack it
        learner = cls(
            inputs.saved_policy(body["policy"], policy),
            offline=offline,
            bias_bound=_decoded(body["bias_bounds"], "bias_bounds"),
            relative_bound=None if relative is None else _decoded(relative, "relative_bounds"),
            reward_range=_decoded(body["reward_range"], "range"),
            seed=body["seed"],
        )
        learner.tally = Tally.from_json(body["tally"])
        if learner.tally.arms != offline.arms:
            raise UnreadableState("the tally and the offline data name different arms")
        learner.pending = check.frozen(
            check.pulls_per_arm(body["pending"], "pending", offline.arms)
        )
        learner.decisions = check.whole(body["decisions"], "decisions")
        learner._playable = check.per_arm(body["playable"], "playable", offline.arms) > 0
        rows = check.items(body["memory"], "memory")
        columns = Arms.numbered(learner.policy.memory) if learner.policy.memory else ()
        if len(rows) != len(offline.arms):
            raise UnreadableState(f"memory has {len(rows)} rows for {len(offline.arms)} arms")
        learner._memory[:] = [check.per_arm(row, "memory", columns) for row in rows]
        return learner

    def _situation(self, exclude: Iterable[str]) -> tuple[Evidence, Round]:
        """What the policy sees when it decides now."""
        playable = self._playable.copy()
        for label in check.items(exclude, "exclude"):
            playable[self.arms.column(label)] = False
        if not playable.any():
            raise InvalidInput(f"exclude leaves no arm to play, of {', '.join(self.playable)}")
        now = Round(max(self.decisions, int(self.tally.pulls.sum())) + 1, int(playable.sum()))
        evidence = gather(
            self.tally,
            self.offline,
            self.bias_bounds,
            playable,
            self._memory,
            self.pending,
            self.relative_bounds,
        )
        return evidence, now


def _decoded(values: object, name: str) -> list[object]:
    return [record.decode(x) for x in check.items(values, name)]


_FIELDS = (
    "policy",
    "offline",
    "bias_bounds",
    "tally",
    "pending",
    "reward_range",
    "seed",
    "decisions",
    "playable",
    "memory",
)
