"""Campaign: durable decisions and rewards, shared by any number of processes."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, overload

from driftanchor.core import check
from driftanchor.core.offline import OfflineData
from driftanchor.errors import Conflict
from driftanchor.live.campaigns import creating
from driftanchor.live.campaigns.asking import Ask
from driftanchor.live.campaigns.decision import Decision, Receipt, decision_id_text, reward_pairs
from driftanchor.live.campaigns.managed import Managed
from driftanchor.live.campaigns.new_terms import valid_reason
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.telling import Correct, Expose, Tell
from driftanchor.live.stores.store import Store, opening
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy

STORE = "sqlite:///driftanchor.db"


class Campaign(Managed):
    """A durable bandit: an acknowledged decision or reward is never lost or counted twice.

    Everything is in a store, SQLite or PostgreSQL. Any number of processes and threads can use the
    same campaign at the same time, and each may crash at any moment. Events are totally ordered,
    and the noise of decision n depends only on the seed and n. So any decision can be recomputed
    and explained later.

    A reward is reported with the id of its decision. Reporting it twice is harmless, so retry if
    you are not sure whether it arrived.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> offline = OfflineData.from_summary({"A": (200, 0.51, 0.25), "B": (200, 0.48, 0.25)})
        >>> place = f"sqlite:///{folder.name}/bandit.db"
        >>> campaign = Campaign.create("checkout", offline=offline, bias_bound=0.05, store=place)
        >>> decision = campaign.ask(unit="user-1")
        >>> campaign.tell(decision.id, 1.0).status, campaign.tell(decision.id, 1.0).status
        ('recorded', 'replayed')
        >>> campaign.status()
        <Status: checkout, guarded-anchor-ts, 2 arms, 1 decision, 1 reward, 0 pending>
        >>> campaign.close()
        >>> folder.cleanup()
    """

    @classmethod
    def create(
        cls,
        name: str,
        *,
        offline: OfflineData | None = None,
        arms: Iterable[str] | None = None,
        policy: Policy | None = None,
        bias_bound: object = None,
        relative_bound: object = None,
        bias_bound_source: str | None = None,
        reward_range: object = None,
        reward: str | None = None,
        reward_window: float | None = None,
        default_reward: float | None = None,
        late: str = "ignore",
        sticky: str | None = "decision",
        exposure: str = "ask",
        floor: float = 0.0,
        control: Mapping[str, float] | None = None,
        on_alarm: str = "report",
        matters: float | None = None,
        allow_outside: bool = False,
        seed: int | None = None,
        store: str | Store = STORE,
        if_exists: str = "error",
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Create a campaign.

        Args:
            name: Its name in the store.
            offline: As for `Learner`, like `arms`, `policy`, `bias_bound`, `relative_bound`,
                `bias_bound_source`, `reward_range` and `seed`.
            arms: The labels.
            policy: The rule; by default the guarded rule in the units of the logs.
            bias_bound: V, how far an arm's online mean may be from its offline mean.
            relative_bound: W, how far an arm may have moved relative to a move all arms share.
            bias_bound_source: Where the bounds come from.
            reward_range: The lowest and highest possible reward; others are refused.
            reward: As in `Settings`, like the arguments up to `allow_outside`. By default
                `"binary"` if all logged rewards are 0 or 1, else `"number"`.
            reward_window: Seconds within which a reward counts.
            default_reward: The reward to count if none arrives.
            late: How to treat a reward after the window.
            sticky: Which decision a returning unit gets.
            exposure: When a decision starts to wait for its reward.
            floor: The minimum probability of each arm.
            control: Arms with a larger floor.
            on_alarm: How to react to a shift alarm.
            matters: The smallest difference that matters.
            allow_outside: Accept rewards far outside the range of the logged rewards.
            seed: The seed of all noise; by default drawn at random and stored.
            store: The address of the store, or an open store.
            if_exists: `"error"`, or `"load"` to continue an existing campaign of this name that was
                created with the same arguments.
            clock: Returns the time, in seconds since 1970.

        Raises:
            Conflict: The name is taken; with `"load"`, by a campaign with other arguments.
        """
        check.choice(if_exists, "if_exists", ("error", "load"))
        check.function(clock, "clock")
        creating.valid_name(name)
        kind = reward
        if kind is None:
            kind = creating.inferred_kind(offline, reward_range, default_reward)
        declared: Any = {
            "offline": offline,
            "arms": arms,
            "bias_bound": bias_bound,
            "relative_bound": relative_bound,
            "bias_bound_source": bias_bound_source,
            "seed": seed,
        }
        ends = creating.range_of(kind, reward_range)
        terms = Terms.declare(policy, reward_range=ends, **declared)
        if reward is None and kind == "binary" and terms.reasons:
            terms = dataclasses.replace(terms, reasons=(*terms.reasons, creating.BINARY))
        creating.check_live(terms.policy)
        settings = Settings(
            reward=kind,
            reward_window=reward_window,
            default_reward=default_reward,
            late=late,
            sticky=sticky,
            exposure=exposure,
            floor=floor,
            control={} if control is None else control,
            on_alarm=on_alarm,
            matters=matters,
            allow_outside=allow_outside,
        ).checked(terms.arms, terms.reward_range)
        with opening(store) as opened:
            try:
                row = creating.create(opened, name, terms, settings, check.clock_time(clock))
            except Conflict:
                if if_exists == "error":
                    raise
                row = creating.find(opened, name)
                kept = creating.read(row, creating.own(policy))
                # Older versions did not infer the kind.
                if reward is None and kept[1].reward != kind:
                    settings = dataclasses.replace(settings, reward=kept[1].reward)
                    ends = creating.range_of(settings.reward, reward_range)
                    terms = Terms.declare(policy, reward_range=ends, **declared)
                campaign = cls(opened, row, *kept, clock)
                now = campaign.terms, campaign.settings
                creating.check_same(name, kept, now, (terms, settings), seed=seed is not None)
                return campaign
            return cls(opened, row, terms, settings, clock)

    @classmethod
    def load(
        cls,
        name: str,
        *,
        store: str | Store = STORE,
        policy: Policy | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Load an existing campaign, created by any process.

        Args:
            name: Its name.
            store: As for `create`, like `clock`.
            policy: The policy it was created with, if it is a custom one.
            clock: Returns the time.
        """
        check.function(clock, "clock")
        with opening(store) as opened:
            row = creating.find(opened, name)
            return cls(opened, row, *creating.read(row, policy), clock)

    @overload
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: None = None,
        peek: bool = False,
        key: str | None = None,
    ) -> Decision: ...
    @overload
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: int,
        peek: bool = False,
        key: str | None = None,
    ) -> list[Decision]: ...
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: int | None = None,
        peek: bool = False,
        key: str | None = None,
    ) -> Decision | list[Decision]:
        """Ask which arm to play. The decision is on disk when this returns.

        Args:
            unit: The user or session that the decision is for. A returning unit gets the same
                decision while it waits for its reward, or as `sticky` says. Without a unit every
                call is a new decision.
            exclude: Arms that cannot be played this time. A unit whose arm is excluded, or was
                archived since, gets a new decision, and `note` says why.
            n: The number of decisions; `ask` then returns a list.
            peek: Return what would be decided now, and record nothing.
            key: An idempotency key: for 24 hours the same key returns the same decisions, so that
                a request without a unit is safe to retry.

        Raises:
            Conflict: The key was used with another `unit`, `exclude`, `n` or `peek`.
            Conflict: The campaign is paused, and the unit has no decision.
            StoreUnavailable: The store cannot be written; nothing was decided.
        """
        ask = Ask.checked(unit, exclude, n, peek, key)
        answers: list[Decision] = self._do(ask)
        return answers[0] if n is None else answers

    def tell(self, decision_id: str, reward: float, *, allow_outside: bool = False) -> Receipt:
        """Report the reward of a decision. It is on disk when this returns. Safe to retry.

        Args:
            decision_id: The decision.
            reward: Its reward.
            allow_outside: Accept a reward far outside the range of the logged rewards.

        Raises:
            Conflict: The decision already has a different reward, which is kept.
            NotFound: There is no such decision.
            InvalidInput: The reward is not a number, not in `reward_range`, or far outside the
                logged rewards.
        """
        outside = check.flag(allow_outside, "allow_outside")
        receipt: Receipt = self._do(Tell(decision_id, reward, outside))
        return receipt

    def tell_many(
        self, rewards: Iterable[tuple[str, float]], *, allow_outside: bool = False
    ) -> list[Receipt | Exception]:
        """Report many rewards; return a receipt for each, or the error that `tell` would raise.

        Valid rewards are recorded even if others are refused.

        Args:
            rewards: Pairs of a decision and its reward.
            allow_outside: As for `tell`.
        """
        outside = check.flag(allow_outside, "allow_outside")
        return self.submit([Tell(one, reward, outside) for one, reward in reward_pairs(rewards)])

    def correct(
        self,
        decision_id: str,
        reward: float,
        *,
        before: float,
        reason: str | None = None,
        allow_outside: bool = False,
    ) -> Receipt:
        """Correct a reported reward, for example after a refund.

        The original reward stays in the history as an event; sums, alarms and exports use the
        corrected one. Safe to retry.

        Args:
            decision_id: The decision.
            reward: The right reward.
            before: The reward currently recorded.
            reason: The reason, recorded in the history.
            allow_outside: As for `tell`.

        Raises:
            Conflict: The recorded reward is not `before`, or no reported reward counts.
            NotFound: There is no such decision.
            InvalidInput: As for `tell`.
        """
        why = None if reason is None else valid_reason(reason)
        outside = check.flag(allow_outside, "allow_outside")
        receipt: Receipt = self._do(Correct(decision_id, reward, before, why, outside))
        return receipt

    def expose(self, decision_id: str) -> Receipt:
        """Report that a decision was shown; with `exposure="report"`, its window starts now."""
        receipt: Receipt = self._do(Expose(decision_id_text(decision_id)))
        return receipt
