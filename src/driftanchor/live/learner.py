"""Learner: decide and learn in one process."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, overload

from driftanchor.core import check
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.core.record import Record
from driftanchor.errors import InvalidInput
from driftanchor.live import changes, conversions, decide, records, saved_file
from driftanchor.live.decider import Decider
from driftanchor.live.explanation import Explanation
from driftanchor.live.law_writers import LawWriters
from driftanchor.live.saved_file import Stamps
from driftanchor.live.state import State
from driftanchor.live.state_events import Event
from driftanchor.live.terms import Terms
from driftanchor.live.view import View
from driftanchor.policies.base import Policy

NOBODY: tuple[str, ...] = ()


class Learner(View):
    """Pulls arms, learns from rewards, and can say why.

    A learner has its `terms` (what was agreed) and its `state` (what happened since). Both are
    immutable: a method that changes something leads to others, or raises and changes nothing.

    The noise of decision n depends only on the seed and n. So a learner that was saved and loaded
    continues exactly where it was, and a decision can be explained from the evidence it had.
    Rewards may come late, in batches and in any order: pulls without a reward count as pending, so
    that a guard pull is not repeated while its reward is on its way.

    Threads may share a learner: calls are made one after the other. Processes may not: let one of
    them decide, and see `save`.

    Attributes:
        terms: The policy, the logs, the promises, the range of rewards and the seed.
        state: The online rewards, what is pending, the arms that can be played, the policy's
            memory, and the number of decisions.

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
        """Start with no online rewards.

        Args:
            policy: The rule; by default `GuardedAnchorTS` in the units of the logs, or of
                `reward_range`. `AnchorTS()` is the paper's rule, in the paper's units.
            offline: What the logs say. Without it there are no logs, and `arms` names the arms.
            arms: The labels, in the order wanted. Arms that the logs lack start without logs.
            bias_bound: How far an arm's online mean may be from its offline mean: one number, a
                mapping from labels, or a `Suggestion`; `inf` where nothing is known. Logs need
                this or `relative_bound`.
            relative_bound: How far an arm's online mean may be from its offline mean plus a move
                that all arms share. The shared move may be anything and is learned. Where both
                bounds are given both hold, and the tighter one decides.
            bias_bound_source: Where the bounds come from, for the default policy: `"proved"`,
                `"estimated"` (the default) or `"guessed"`. The less sure they are, the more the
                policy tries arms whatever their logs say (ε = 0, 0.2, 0.4).
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

    def _begin(self, terms: Terms, state: State, files: Stamps) -> None:
        self._decider = Decider(terms, state.copy())
        self._law_writers = LawWriters(terms.policy)
        self._state: State | None = state  # None while nobody has asked since the last change
        self._files = files
        self._lock = threading.RLock()  # again by the same thread: a warning may call anything
        # What the last pull saw; its state is None while `before_last` can still tell it.
        self._last: tuple[Terms, State | None, tuple[object, ...]] | None = None
        # Until a reward shows otherwise or a warning was given, here or before `save`.
        said = conversions.only_conversions(terms, state)
        self._all_at_top = not said and conversions.all_at_top(terms, state)

    def _moment(self) -> tuple[Terms, State]:
        with self._lock:
            if self._state is None:
                self._state = self._decider.state.frozen()
            return self._decider.terms, self._state

    @property
    def terms(self) -> Terms:
        """What was agreed before the first decision."""
        return self._decider.terms

    def pull(self, exclude: Iterable[str] = NOBODY) -> str:
        """Decide which arm to play now.

        Args:
            exclude: Arms that cannot be played this time.
        """
        excluded = () if exclude is NOBODY else tuple(check.items(exclude, "exclude"))
        with self._lock:
            decider = self._decider
            column = decider.play(excluded)
            self._last = decider.terms, None, excluded
            self._state = None
            return decider.labels[column]

    def probabilities(
        self, exclude: Iterable[str] = (), draws: int | None = None
    ) -> dict[str, float]:
        """The probability with which `pull` would play each arm now, over the policy's noise.

        It is computed, right to 1e-6, where the law of the policy's index is known: for all
        policies here but Artificial Replay. For that and for a rule of your own that draws, it is
        the share of each arm among 1,000 decisions on the same evidence, each with noise of its
        own. A guard pull draws nothing: one arm has probability 1, or the policy's `guard_share`.
        Nothing changes, and asking again gives the same answer.

        Args:
            exclude: As for `pull`.
            draws: Count this many decisions instead; the standard error is at most 1/(2 √draws).

        Example:
            >>> Learner(arms=["A", "B"], seed=1).probabilities(exclude=["B"])
            {'A': 1.0, 'B': 0.0}
        """
        terms, state = self._moment()
        number = state.decisions + 1
        shares = decide.probabilities(terms, state, number, exclude, draws, self._law_writers)
        return dict(zip(terms.arms, shares.tolist(), strict=True))

    @overload
    def update(self, arm: str, reward: float) -> None: ...
    @overload
    def update(self, arm: Sequence[str], reward: Sequence[float]) -> None: ...
    def update(self, arm: str | Sequence[str], reward: float | Sequence[float]) -> None:
        """Learn from one reward, or from a batch; a batch equals the loop over it.

        If one arm or reward of a batch is refused, nothing is learned from the batch. A reward ends
        the wait of one pending pull of its arm, if there is any.

        Report every reward, also the 0 of a pull that did not convert. If only conversions are
        reported, every mean becomes the same. This method warns once when that seems to happen: at
        least 20 rewards came, each of them the highest possible (the top of `reward_range`, or 1
        where that is open), and more pulls wait for a reward than ever got one.
        """
        with self._lock:
            terms = self._decider.terms
            if isinstance(arm, str) and not self._all_at_top:  # nearly always
                column, paid = changes.one_reward(terms, arm, reward)
                self._decider.state.learn(column, paid)
                self._state = None
                return
            event = changes.rewards(terms, arm, reward)
            if self._all_at_top:
                self._all_at_top, doubt = conversions.look(terms, self._decider.state, event)
                if doubt:  # before anything changes: where warnings are errors, it can be repeated
                    warnings.warn(doubt, stacklevel=2)
            self._happened(event)

    def drop_pending(self, arm: str | None = None, count: int | None = None) -> None:
        """Stop waiting for rewards that will never come.

        Args:
            arm: The arm; `None` for all arms.
            count: How many of its pulls; `None` for all of them.
        """
        with self._lock:
            for event in changes.give_up(self.state, arm, count):
                self._happened(event)

    def explain(self) -> Explanation:
        """Why the last pull since this learner was made or loaded went where it went."""
        with self._lock:
            last = self._seen_last()
        if last is None:
            raise InvalidInput("nothing to explain yet: call pull() first")
        terms, state, excluded = last
        return decide.explain(terms, state, state.decisions + 1, excluded)

    def _seen_last(self) -> tuple[Terms, State, tuple[object, ...]] | None:
        """What the last pull saw; the caller holds the lock."""
        if self._last is None:
            return None
        terms, state, excluded = self._last
        if state is None:
            state = self._decider.state.before_last().frozen()
        return terms, state, excluded

    def add_arm(
        self,
        label: str,
        offline: Summary = (0,),
        bias_bound: float | None = None,
        relative_bound: float | None = None,
    ) -> None:
        """Add an arm, which takes part from now on.

        Args:
            label: Its label.
            offline: (n, mean) or (n, mean, variance) of its logs, if it has any.
            bias_bound: Its bias bound; an arm with logs needs this or a relative bound.
            relative_bound: How far it may have moved from the other arms since its logs.
        """
        with self._lock:
            self._happened(changes.add_arm(self.terms, label, offline, bias_bound, relative_bound))

    def retire_arm(self, label: str) -> None:
        """Stop pulling this arm; late rewards of it are still learned from."""
        with self._lock:
            self._happened(changes.pause(self.state, label))

    def restore_arm(self, label: str) -> None:
        """Pull a retired arm again; what was learned about it is kept."""
        with self._lock:
            self._happened(changes.resume(self.state, label))

    def _happened(self, event: Event) -> None:
        """Go on to the terms and the state after this event; the caller holds the lock."""
        self._decider.apply(event)
        self._state = None

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write everything to a JSON file, whole or not at all.

        A file that this learner was not loaded from, or that another process wrote to since, is
        refused: what is in it would be lost. A file is for one process.

        Args:
            path: The file.
            overwrite: Write over it whatever it holds.
        """
        check.flag(overwrite, "overwrite")
        with self._lock:
            self._files = saved_file.save(path, self.to_json(), self._files, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> Learner:
        """Load what `save` wrote, and continue from there without repeating its warnings.

        Args:
            path: The file.
            policy: The policy it was saved with, if that is not one of this package.
        """
        return cls._restored(*saved_file.load(path, policy))

    def to_json(self) -> Record:
        """A JSON-ready record of everything."""
        return records.to_record(*self._moment())

    @classmethod
    def from_json(cls, data: object, policy: Policy | None = None) -> Learner:
        """Read what `to_json` wrote; see `load`."""
        return cls._restored(*records.from_record(data, policy), {})

    @classmethod
    def _restored(cls, terms: Terms, state: State, files: Stamps) -> Learner:
        learner = cls.__new__(cls)
        learner._begin(terms, state, files)
        return learner

    def __getstate__(self) -> tuple[Any, ...]:  # for copies and pickles, which have their own lock
        with self._lock:
            return *self._moment(), self._files, self._seen_last(), self._all_at_top

    def __setstate__(self, saved: tuple[Any, ...]) -> None:
        terms, state, files, last, all_at_top = saved
        self._begin(terms, state, files)
        self._last, self._all_at_top = last, all_at_top
