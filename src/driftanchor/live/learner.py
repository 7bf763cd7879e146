"""Learner: decide and learn in one process."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, overload

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats, Ints
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.core.promises import Range
from driftanchor.core.record import Record
from driftanchor.core.tally import Tally
from driftanchor.errors import InvalidInput
from driftanchor.live import changes, decide, records
from driftanchor.live.decide import Decider
from driftanchor.live.explanation import Explanation
from driftanchor.live.propensities import Propensities
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy
from driftanchor.render.numbers import count as number_of
from driftanchor.render.tabular import Tabular, known

NOBODY: tuple[str, ...] = ()


class Learner(Tabular):
    """Pulls arms, learns from rewards, and can say why.

    A method either changes the learner or raises an error and changes nothing. The noise of
    decision n depends only on the seed and n, so a loaded learner continues exactly where the
    saved one was. Rewards may come late, in batches and in any order. A pull without a reward is
    pending, so a guard pull is not repeated while its reward is on its way.

    Threads may share a learner; processes may not (see `save`).

    Attributes:
        terms: The policy, the logs, their bounds, the range of rewards and the seed.
        state: The online rewards, the pending pulls, the playable arms, the policy's memory, and
            the number of decisions.

    Example:
        >>> from driftanchor import AnchorTS, OfflineData
        >>> offline = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48)})
        >>> learner = Learner(AnchorTS(), offline=offline, bias_bound=0.05, seed=1)
        >>> arm = learner.pull()
        >>> learner.update(arm, 1.0)
        >>> learner
        <Learner: anchor-ts, 2 arms, 400 logged rewards, 1 decision, 1 reward, 0 pending, seed 1>
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
        """Create a learner without online rewards.

        Args:
            policy: The rule; by default `GuardedAnchorTS` in the units of the logs, or of
                `reward_range`. `AnchorTS()` is the paper's rule, in the paper's units.
            offline: The logs. Without logs, `arms` names the arms.
            arms: The labels in order. Arms that `offline` lacks start without logs.
            bias_bound: How far an arm's online mean may be from its offline mean: one number, a
                mapping from labels, or a `Suggestion`; `inf` where nothing is known. Logs need
                this or `relative_bound`.
            relative_bound: How far an arm's online mean may be from its offline mean plus a move
                that all arms share. The shared move may be anything and is learned. If both bounds
                are given, both hold, and the tighter one counts.
            bias_bound_source: Where the bounds come from: `"proved"`, `"estimated"` (the default)
                or `"guessed"`. The less sure they are, the more the default policy tries arms
                regardless of their logs (ε = 0, 0.2, 0.4).
            reward_range: The lowest and the highest reward possible; others are refused.
            seed: The seed of the policy's noise. By default one is drawn; `save` keeps it.
        """
        terms = Terms.declare(
            policy,
            offline=offline,
            arms=arms,
            bias_bound=bias_bound,
            relative_bound=relative_bound,
            bias_bound_source=bias_bound_source,
            reward_range=reward_range,
            seed=seed,
        )
        self._begin(terms, State.start(terms.arms, terms.policy.memory), {})

    def _begin(self, terms: Terms, state: State, hashes: records.Hashes) -> None:
        self._decider = Decider(terms, state)
        self._propensities = Propensities(terms.policy)
        self._hashes = hashes
        self._lock = threading.RLock()  # the same thread may enter again while it warns
        # The terms and the state before the last pull, and the arms it excluded.
        self._last: tuple[Terms, State, tuple[object, ...]] | None = None
        warned = changes.only_conversions(terms, state)  # the warning came before it was saved
        self._may_warn = not warned and changes.only_highest(terms, state)

    def _now(self) -> tuple[Terms, State]:
        """Return terms and state that belong together."""
        with self._lock:
            return self._decider.terms, self._decider.state.frozen()

    @property
    def terms(self) -> Terms:
        """The policy, the logs, their bounds and the seed."""
        return self._decider.terms

    @property
    def state(self) -> State:
        """A read-only copy of the current state."""
        return self._now()[1]

    @property
    def arms(self) -> Arms:
        """All arms, including paused ones."""
        return self.terms.arms

    @property
    def playable(self) -> tuple[str, ...]:
        """The labels of the arms that can be pulled."""
        terms, state = self._now()
        return tuple(x for x, on in zip(terms.arms, state.playable, strict=True) if on)

    @property
    def policy(self) -> Policy:
        """The policy that chooses arms."""
        return self.terms.policy

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the default policy has its parameters; empty if the caller chose the policy."""
        return self.terms.reasons

    @property
    def offline(self) -> OfflineData:
        """The logs of every arm."""
        return self.terms.offline

    @property
    def bias_bounds(self) -> Floats:
        """The bias bound of every arm; `inf` for no bound."""
        return self.terms.bias_bounds

    @property
    def relative_bounds(self) -> Floats:
        """The relative bound of every arm; `inf` for no bound."""
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
        """Online pulls and reward sums."""
        return self.state.tally

    @property
    def pending(self) -> Ints:
        """The number of pending pulls of each arm."""
        return self.state.pending

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return self._decider.state.decisions

    def _line(self) -> str:
        terms, state = self._now()
        paused = len(terms.arms) - state.playable_count
        counts = [
            number_of(len(terms.arms), "arm") + (f" ({paused:,} paused)" if paused else ""),
            number_of(int(terms.offline.n.sum()), "logged reward"),
            number_of(state.decisions, "decision"),
            number_of(state.reward_count, "reward"),
            f"{state.pending_count:,} pending",
        ]
        return ", ".join([terms.policy.name, *counts, f"seed {terms.seed}"])

    def _columns(self) -> dict[str, list[object]]:
        terms, state = self._now()
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

    def pull(self, exclude: Iterable[str] = NOBODY) -> str:
        """Decide which arm to play now.

        Args:
            exclude: Arms that cannot be played this time.
        """
        excluded = () if exclude is NOBODY else tuple(check.items(exclude, "exclude"))
        with self._lock:
            decider = self._decider
            before = decider.state.copy()
            column = decider.play(excluded)
            self._last = decider.terms, before, excluded
            return decider.terms.arms.labels[column]

    def probabilities(
        self, exclude: Iterable[str] = (), draws: int | None = None
    ) -> dict[str, float]:
        """Return the probability that `pull` would play each arm now, over the policy's noise.

        It is computed with an error below 1e-6 if the law of the policy's index is known, as for
        all built-in policies but Artificial Replay. For other policies it is the share of each arm
        among 1,000 simulated decisions on the same evidence. A guard pull draws nothing: one arm
        has probability 1, or the policy's `guard_share`. Calling this changes nothing.

        Args:
            exclude: As for `pull`.
            draws: Simulate this many decisions instead; the standard error is at most
                1/(2 √draws).

        Example:
            >>> Learner(arms=["A", "B"], seed=1).probabilities(exclude=["B"])
            {'A': 1.0, 'B': 0.0}
        """
        terms, state = self._now()
        shares = decide.probabilities(terms, state, exclude, draws, self._propensities)
        return dict(zip(terms.arms, shares.tolist(), strict=True))

    @overload
    def update(self, arm: str, reward: float) -> None: ...
    @overload
    def update(self, arm: Sequence[str], reward: Sequence[float]) -> None: ...
    def update(self, arm: str | Sequence[str], reward: float | Sequence[float]) -> None:
        """Learn from one reward or a batch; a batch has the same effect as one call per reward.

        If one arm or reward of a batch is invalid, nothing is learned from the batch. A reward
        closes one pending pull of its arm, if there is one.

        Report every reward, including the 0 of a pull that did not convert: if only conversions
        are reported, all means become equal. This method warns once if that seems to happen: at
        least 20 rewards came, each the highest possible (the top of `reward_range`, or 1 if that
        is open), and more pulls wait for a reward than ever got one.
        """
        with self._lock:
            terms, state = self._decider.terms, self._decider.state
            if isinstance(arm, str) and not self._may_warn:  # fast path
                state.learn(*changes.one_reward(terms, arm, reward))
                return
            event = changes.rewards(terms, arm, reward)
            if self._may_warn:
                self._may_warn, warning = changes.check_conversions(terms, state, event)
                if warning:  # before the event: where warnings are errors, the call can be repeated
                    warnings.warn(warning, stacklevel=2)
            self._decider.apply(event)

    def drop_pending(self, arm: str | None = None, count: int | None = None) -> None:
        """Stop waiting for rewards that will never come.

        Args:
            arm: The arm; `None` for all arms.
            count: How many of its pulls; `None` for all of them.
        """
        with self._lock:
            for event in changes.give_up(self._decider.state, arm, count):
                self._decider.apply(event)

    def explain(self) -> Explanation:
        """Explain the last pull since this learner was created or loaded."""
        last = self._last
        if last is None:
            raise InvalidInput("nothing to explain yet: call pull() first")
        return decide.explain(*last)

    def add_arm(
        self,
        label: str,
        offline: Summary = (0,),
        bias_bound: float | None = None,
        relative_bound: float | None = None,
    ) -> None:
        """Add an arm.

        Args:
            label: Its label.
            offline: (n, mean) or (n, mean, variance) of its logs, if it has any.
            bias_bound: Its bias bound; an arm with logs needs this or a relative bound.
            relative_bound: How far it may have moved from the other arms since its logs.
        """
        with self._lock:
            event = changes.add_arm(self.terms, label, offline, bias_bound, relative_bound)
            self._decider.apply(event)

    def retire_arm(self, label: str) -> None:
        """Stop pulling this arm; its late rewards still count."""
        with self._lock:
            self._decider.apply(changes.pause(self._decider.state, label))

    def restore_arm(self, label: str) -> None:
        """Pull a retired arm again; its rewards are kept."""
        with self._lock:
            self._decider.apply(changes.resume(self._decider.state, label))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the learner to a JSON file, atomically.

        Refuses to overwrite a file that this learner was not loaded from or saved to, or that
        another process changed since. Use a file in one process only.

        Args:
            path: The file.
            overwrite: Overwrite any file.
        """
        check.flag(overwrite, "overwrite")
        with self._lock:
            self._hashes = records.save(path, self.to_json(), self._hashes, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> Learner:
        """Load what `save` wrote, without repeating its warnings.

        Args:
            path: The file.
            policy: The policy it was saved with, if it is not built in.
        """
        return cls._restored(*records.load(path, policy))

    def to_json(self) -> Record:
        """Return a JSON-ready record of terms and state."""
        return records.to_record(*self._now())

    @classmethod
    def from_json(cls, data: object, policy: Policy | None = None) -> Learner:
        """Read what `to_json` wrote; see `load`."""
        return cls._restored(*records.from_record(data, policy), {})

    @classmethod
    def _restored(cls, terms: Terms, state: State, hashes: records.Hashes) -> Learner:
        learner = cls.__new__(cls)
        learner._begin(terms, state, hashes)
        return learner

    def __getstate__(self) -> tuple[Any, ...]:  # copies and pickles have a lock of their own
        with self._lock:
            return *self._now(), self._hashes, self._last, self._may_warn

    def __setstate__(self, saved: tuple[Any, ...]) -> None:
        terms, state, hashes, last, may_warn = saved
        self._begin(terms, state.copy(), hashes)
        self._last, self._may_warn = last, may_warn
