"""Status: the state of a campaign; nothing in it is random."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from driftanchor.core import record
from driftanchor.core.delays import slot_length
from driftanchor.live.campaigns.campaign_state import CampaignState, centre
from driftanchor.live.campaigns.change_requests import TermsChange
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.stopping import Outlook, outlook, outlook_text
from driftanchor.live.campaigns.traffic import RatioCheck
from driftanchor.live.stores.rows import ArmRow
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarms import Alarm, alarm_text
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known


@dataclass(frozen=True, slots=True)
class ArmStatus:
    """The status of one arm.

    Attributes:
        state: `"active"`, `"paused"` or `"archived"`.
        logs_n: The number of logged rewards.
        logs_mean: The logged mean; NaN without logs.
        logs_count: Whether the logs count; false once they are distrusted.
        live_n: The number of live rewards. With a reward window and a default reward: the
            effective number of settled rewards, which may be fractional.
        live_mean: The live mean; NaN without live rewards.
        live_variance: The sample variance of live rewards; NaN with fewer than two.
        rewards: The number of counted rewards, including default rewards.
        decisions: The number of decisions for this arm.
        expected: The expected number of decisions: the sum of its propensities.
        pending: The number of its decisions that wait for a reward.
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
    """The status of a campaign.

    Attributes:
        name: Its name.
        policy: The name of its policy.
        paused: Whether it is paused.
        epoch: The epoch.
        decisions: The number of decisions.
        rewards: The number of counted rewards, including default rewards.
        pending: The number of decisions that wait for a reward.
        late: The number of rewards that came after their window and do not count.
        settings: Its settings.
        reasons: Why the default policy has its parameters.
        arms: The status of each arm.
        outlook: The probability that each arm is best, and the expected loss of stopping now.
        ratio: Whether arms are played as often as their propensities say.
        alarms: Bounds that live rewards have violated, oldest first. Alarms about bounds that were
            widened later are left out.
        problems: Problems with the rewards: too late, all equal, or never reported.
        changes: Changes of settings and bounds, oldest first.
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
        current: CampaignState,
        alarms: tuple[Alarm, ...] = (),
        problems: tuple[str, ...] = (),
    ) -> Status:
        """Build the status from the state of the campaign."""
        terms, state, counters, traffic = (
            current.terms,
            current.state,
            current.counters,
            current.traffic,
        )
        return cls(
            name,
            terms.policy.name,
            counters.paused,
            counters.epoch,
            counters.decisions,
            state.reward_count,
            state.pending_count,
            counters.late,
            current.settings,
            terms.reasons,
            {label: _arm(current, column) for column, label in enumerate(terms.arms)},
            outlook(terms, current.state, current.settings.matters),
            RatioCheck(current.decisions.copy(), traffic.expected, traffic.variance, traffic.log_e),
            tuple(alarm for alarm in alarms if stands(alarm, terms)),
            problems,
            tuple(TermsChange.of(entry) for entry in current.changes),
        )

    @property
    def is_alarmed(self) -> bool:
        """Return whether a bound is violated, or rewards or traffic shares look wrong."""
        return bool(self.alarms) or bool(self.problems) or self.ratio.is_off()

    def findings(self) -> list[str]:
        """Return findings and advice in words: alarms first, then the risk of stopping now."""
        labels = tuple(self.arms)
        distrusts = self.settings.on_alarm == "distrust"
        findings = [alarm_text(alarm, labels, distrusts) for alarm in self.alarms]
        if self.ratio.is_off():
            findings.append(self.ratio.text(labels))
        findings += self.problems
        if self.is_too_early:
            length = slot_length(self.settings.reward_window or 0.0)
            findings.append(
                "No live means yet, because rewards need time to arrive: they start when a reward "
                f"has come and its decision is {count(math.ceil(length / 60.0), 'minute')} old."
            )
        return [*findings, outlook_text(self.outlook, labels)]

    @property
    def is_too_early(self) -> bool:
        """Return whether there are decisions, but none is old enough to estimate a mean."""
        unknown = all(math.isnan(arm.live_mean) for arm in self.arms.values())
        return self.settings.is_delayed and self.decisions > 0 and unknown

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
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
    """Return whether an alarm still applies: its bound was not widened since."""
    bounds = getattr(terms, f"{alarm.promise}s")
    return not all(moved.bound < bounds[moved.column] < math.inf for moved in alarm.arms)


def _arm(current: CampaignState, column: int) -> ArmStatus:
    row, logs, state = current.row(column), current.terms.offline, current.state
    pulls = state.live_pulls.item(column)
    mean = state.live_totals.item(column) / pulls if pulls >= 1 else math.nan
    variance = _variance(current, row, pulls, mean) if pulls > 1 else math.nan
    return ArmStatus(
        row.state,
        logs.n.item(column),
        logs.mean.item(column),
        column not in current.distrusted,
        pulls,
        mean,
        variance,
        row.pulls,
        row.decisions,
        current.traffic.expected.item(column),
        row.pending,
    )


def _variance(current: CampaignState, row: ArmRow, pulls: float, mean: float) -> float:
    """Return the sample variance of live rewards.

    With delays, the reported rewards give the ratio of the mean squared distance from the default
    to the mean distance, and the live mean gives the mean distance.
    """
    middle, default = centre(current.terms, row.column), current.settings.default_reward
    if current.state.live is None or default is None:
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
