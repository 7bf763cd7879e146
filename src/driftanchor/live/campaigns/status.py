"""Status: what is known about a campaign, for people and programs; nothing in it is random."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from driftanchor.core import record
from driftanchor.core.delays import slot_length
from driftanchor.core.stats.largest import MOST
from driftanchor.live.campaigns.books import Books, centre
from driftanchor.live.campaigns.new_terms import TermsChange
from driftanchor.live.campaigns.sample_ratio import RatioCheck
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.stopping import Outlook, outlook, outlook_text
from driftanchor.live.stores.store_rows import ArmRow
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarm import Alarm
from driftanchor.live.watch.alarm_prose import alarm_text
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known


@dataclass(frozen=True, slots=True)
class ArmStatus:
    """What is known about one arm.

    Attributes:
        state: `"active"`, `"paused"` or `"archived"`.
        logs_n: How many logged rewards it has.
        logs_mean: Their mean; NaN if there are none.
        logs_count: Whether the logs count; not after they were distrusted.
        live_n: How many live rewards count. With a reward window and a default reward: how many
            settled rewards the live mean is worth, which need not be a whole number.
        live_mean: Their mean; NaN if there are none.
        live_variance: Their sample variance; NaN if there are fewer than two.
        rewards: How many rewards were counted, default rewards too.
        decisions: How many decisions chose it.
        expected: How many decisions it should have got: the sum of its propensities.
        pending: How many of its decisions wait for a reward.
    """

    state: str
    logs_n: int
    logs_mean: float
    logs_count: bool
    live_n: float
    live_mean: float
    live_variance: float
    rewards: int
    decisions: int
    expected: float
    pending: int


@dataclass(frozen=True, repr=False)
class Status(Tabular):
    """What is known about a campaign.

    Attributes:
        name: Its name.
        policy: The name of its policy.
        paused: Whether it is paused.
        epoch: The epoch.
        decisions: How many decisions were made.
        rewards: How many rewards count, default rewards too.
        pending: How many decisions wait for a reward.
        late: How many rewards came after their window and do not count.
        settings: Its settings.
        reasons: Why the default policy has its numbers.
        arms: What is known about each arm.
        outlook: How likely each arm is best, and what stopping now would lose.
        ratio: Whether arms are played as often as their propensities say.
        alarms: Promises about the logs that live rewards have broken, the first one first. An
            alarm about a bound that was widened since is left out.
        problems: What seems wrong with the rewards: they come too late, are all equal, or none was
            reported.
        changes: Changes of settings and bounds, the first one first.
    """

    name: str
    policy: str
    paused: bool
    epoch: int
    decisions: int
    rewards: int
    pending: int
    late: int
    settings: Settings
    reasons: tuple[str, ...]
    arms: Mapping[str, ArmStatus]
    outlook: Outlook
    ratio: RatioCheck
    alarms: tuple[Alarm, ...] = ()
    problems: tuple[str, ...] = ()
    changes: tuple[TermsChange, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        books: Books,
        alarms: tuple[Alarm, ...] = (),
        panels: int = MOST,
        problems: tuple[str, ...] = (),
    ) -> Status:
        """The status of a campaign from its books.

        Args:
            name: Its name.
            books: What is known of it.
            alarms: The alarms so far.
            panels: How finely integrals are computed where there are many arms.
            problems: As `feed_problems` gives them.
        """
        terms, ledger, head, traffic = books.terms, books.ledger, books.head, books.traffic
        return cls(
            name,
            terms.policy.name,
            head.paused,
            head.epoch,
            head.decisions,
            ledger.came,
            ledger.waiting,
            head.late,
            books.settings,
            terms.reasons,
            {label: _arm(books, column) for column, label in enumerate(terms.arms)},
            outlook(terms, books.state, books.settings.matters, panels),
            RatioCheck(books.decisions.copy(), traffic.expected, traffic.variance, traffic.log_e),
            tuple(alarm for alarm in alarms if stands(alarm, terms)),
            problems,
            tuple(TermsChange.of(entry) for entry in books.changes),
        )

    @property
    def is_alarmed(self) -> bool:
        """Whether a promise is broken, or rewards or traffic are not as they should be."""
        return bool(self.alarms) or bool(self.problems) or self.ratio.is_off()

    def findings(self) -> list[str]:
        """What to know and to do, in words: alarms first, then what stopping now would risk."""
        labels = tuple(self.arms)
        distrusts = self.settings.on_alarm == "distrust"
        found = [alarm_text(alarm, labels, distrusts) for alarm in self.alarms]
        if self.ratio.is_off():
            found.append(self.ratio.text(labels))
        found += self.problems
        if self.is_too_early:
            length = slot_length(self.settings.reward_window or 0.0)
            found.append(
                "No live means yet, because rewards need time to arrive: they start when a reward "
                f"has come and its decision is {count(math.ceil(length / 60.0), 'minute')} old."
            )
        return [*found, outlook_text(self.outlook, labels)]

    @property
    def is_too_early(self) -> bool:
        """Whether there are decisions, and none is old enough to tell what its arm pays."""
        unknown = all(math.isnan(arm.live_mean) for arm in self.arms.values())
        return self.settings.is_delayed and self.decisions > 0 and unknown

    def to_json(self) -> record.Record:
        """A JSON-ready record."""
        arms = {
            label: {name: _plain(getattr(arm, name)) for name in arm.__slots__}
            for label, arm in self.arms.items()
        }
        body = {
            "name": self.name,
            "policy": self.policy,
            "paused": self.paused,
            "epoch": self.epoch,
            "decisions": self.decisions,
            "rewards": self.rewards,
            "pending": self.pending,
            "late": self.late,
            "settings": self.settings.to_json(),
            "reasons": list(self.reasons),
            "arms": arms,
            "p_best": dict(zip(self.arms, self.outlook.p_best.tolist(), strict=True)),
            "outlook": self.outlook.to_json(),
            "sample_ratio": self.ratio.to_json(),
            "shift": [alarm.to_json() for alarm in self.alarms],
            "problems": list(self.problems),
            "changes": [change.to_json() for change in self.changes],
            "findings": self.findings(),
        }
        return record.seal("status", 1, body)

    def _line(self) -> str:
        parts = [
            self.name + (" (paused)" if self.paused else ""),
            self.policy,
            count(len(self.arms), "arm"),
            count(self.decisions, "decision"),
            count(self.rewards, "reward"),
            f"{self.pending:,} pending",
        ]
        return ", ".join(parts)

    def _columns(self) -> dict[str, list[object]]:
        arms = list(self.arms.values())
        return {
            "arm": list(self.arms),
            "state": [arm.state for arm in arms],
            "logs_n": [arm.logs_n for arm in arms],
            "logs_mean": known([arm.logs_mean for arm in arms]),
            "live_n": [arm.live_n for arm in arms],
            "live_mean": known([arm.live_mean for arm in arms]),
            "decisions": [arm.decisions for arm in arms],
            "pending": [arm.pending for arm in arms],
        }


def stands(alarm: Alarm, terms: Terms) -> bool:
    """Whether an alarm is about the bounds in force, not about bounds that were widened since."""
    bounds = getattr(terms, f"{alarm.promise}s")
    return not all(moved.bound < bounds[moved.column] < math.inf for moved in alarm.arms)


def _arm(books: Books, column: int) -> ArmStatus:
    row, logs, ledger = books.row(column), books.terms.offline, books.ledger
    pulls = ledger.live_pulls.item(column)
    mean = ledger.live_totals.item(column) / pulls if pulls >= 1 else math.nan
    variance = _variance(books, row, pulls, mean) if pulls > 1 else math.nan
    return ArmStatus(
        row.state,
        logs.n.item(column),
        logs.mean.item(column),
        column not in books.distrusted,
        pulls,
        mean,
        variance,
        row.pulls,
        row.decisions,
        books.traffic.expected.item(column),
        row.pending,
    )


def _variance(books: Books, row: ArmRow, pulls: float, mean: float) -> float:
    """The sample variance of live rewards.

    With delays, what was reported so far says how the squared distance of a reward from the default
    compares with the distance itself; the live mean says how large the distance is on average.
    """
    middle, default = centre(books.terms, row.column), books.settings.default_reward
    if books.ledger.live is None or default is None:
        return max(row.squares - pulls * (mean - middle) ** 2, 0.0) / (pulls - 1)
    apart = middle - default
    gained = row.total - default * row.pulls
    squares = row.squares + 2 * apart * (row.total - middle * row.pulls) + row.pulls * apart**2
    if gained == 0.0:
        return 0.0 if squares <= 1e-9 else math.nan
    away = mean - default
    return max(squares / gained * away - away * away, 0.0) * pulls / (pulls - 1)


def _plain(value: object) -> object:
    return record.encode(value) if isinstance(value, float) else value
