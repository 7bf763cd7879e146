"""Settings: how a campaign handles units, reward windows, late rewards and minimum shares."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.core.promises import Range
from driftanchor.errors import InvalidInput, UnreadableState

REWARDS = ("number", "binary")
STICKY = ("decision", "campaign")
EXPOSURES = ("ask", "report")
LATE = ("ignore", "replace")
ON_ALARM = ("report", "distrust")
CHANGEABLE = ("reward_window", "default_reward", "floor", "control", "allow_outside")
GAINED = ("allow_outside",)  # missing from older records


class Keep(Enum):
    """Sentinel for "unchanged", for arguments where `None` is a value."""

    KEEP = "keep"


KEEP = Keep.KEEP


@dataclass(frozen=True)
class Settings:
    """The settings of a campaign, in addition to its `Terms`.

    `Campaign.change` changes some of them (`CHANGEABLE`); the others are fixed. A decision keeps
    the window and default reward that were in force when it was made.

    Attributes:
        reward: `"number"`, or `"binary"` if every reward is 0 or 1.
        reward_window: Seconds within which a reward counts; `None` for no limit. It starts when a
            decision is made, or when it is shown if `exposure` is `"report"`.
        default_reward: The reward to count if none arrives within the window, such as 0 if only
            conversions are reported. `None`: a decision without a reward does not count.
        late: How to treat a reward after the window. `"ignore"`: it does not count, so that all
            arms are measured alike. `"replace"`: it replaces the default reward, or counts as any
            other if there is no default.
        sticky: Which decision a returning unit gets. `"decision"`: the same one while it waits for
            its reward. `"campaign"`: the same one forever. `None`: a new one.
        exposure: `"ask"`: a decision waits for its reward as soon as it is made. `"report"`: only
            once `expose` reports that it was shown.
        floor: The minimum probability of each playable arm.
        control: Arms with a larger floor, such as `{"A": 0.1}`.
        on_alarm: How to react to a shift alarm. `"report"`: show it. `"distrust"`: the logs of that
            arm no longer count.
        matters: The smallest difference of means that matters to you, if any.
        allow_outside: Whether rewards far outside the range of the logged rewards are accepted.
    """

    reward: str = "number"
    reward_window: float | None = None
    default_reward: float | None = None
    late: str = "ignore"
    sticky: str | None = "decision"
    exposure: str = "ask"
    floor: float = 0.0
    control: Mapping[str, float] = field(default_factory=dict)
    on_alarm: str = "report"
    matters: float | None = None
    allow_outside: bool = False

    def after(self, changes: Mapping[str, Any]) -> Settings:
        """Return the settings after a change; other names, such as bounds, are ignored."""
        return dataclasses.replace(
            self, **{name: value for name, value in changes.items() if name in CHANGEABLE}
        )

    @property
    def is_delayed(self) -> bool:
        """Whether missing rewards become the default reward when the window closes."""
        return self.reward_window is not None and self.default_reward is not None

    def floor_of(self, label: str) -> float:
        """Return the minimum probability of an arm while it is playable."""
        return max(self.floor, self.control.get(label, 0.0))

    def checked(self, arms: Arms, reward_range: Range) -> Settings:
        """Validate the settings against the arms and the reward range, and return them."""
        check.choice(self.reward, "reward", REWARDS)
        check.choice(self.late, "late", LATE)
        check.choice(self.exposure, "exposure", EXPOSURES)
        check.choice(self.on_alarm, "on_alarm", ON_ALARM)
        if self.sticky is not None:
            check.choice(self.sticky, "sticky", STICKY)
        window, default = self.reward_window, self.default_reward
        if window is not None:
            window = check.number(window, "reward_window", above=0.0, high=1e10)
        if default is not None:
            if window is None:
                raise InvalidInput(
                    f"is {default!r} and reward_window is missing: say how many seconds to wait "
                    "for a reward before the default counts",
                    argument="default_reward",
                )
            default = self.reward_of(default, reward_range, "default_reward")
        matters = self.matters
        if matters is not None:
            matters = check.number(matters, "matters", above=0.0, high=check.LARGEST)
        check.flag(self.allow_outside, "allow_outside")
        return dataclasses.replace(
            self,
            reward_window=window,
            default_reward=default,
            matters=matters,
            floor=check.number(self.floor, "floor", low=0.0, high=1.0),
            control=_control(self.control, self.floor, arms),
        )

    def reward_of(self, value: object, ends: Range, argument: str = "reward") -> float:
        """Return a reward as a float; refuse bools and values not finite or out of range."""
        low, high = ends
        if (
            type(value) is float
            and low <= value <= high
            and -check.LARGEST <= value <= check.LARGEST
        ):
            paid = value + 0.0  # the usual case; -0.0 becomes 0.0, as in `check.number`
        else:
            paid = self._other_reward(value, ends, argument)
        if self.reward == "binary" and paid not in (0.0, 1.0):
            raise InvalidInput(f"must be 0 or 1, got {paid!r}", argument=argument)
        return paid

    def _other_reward(self, value: object, ends: Range, argument: str) -> float:
        """Validate a reward that is not a plain valid float."""
        if type(value).__name__ in ("bool", "bool_"):
            raise InvalidInput(f"must be a number, got {value!r}: write 1 or 0", argument=argument)
        low, high = max(ends[0], -check.LARGEST), min(ends[1], check.LARGEST)
        return check.number(value, argument, low=low, high=high)

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        body = {**dataclasses.asdict(self), "control": dict(self.control)}
        return record.seal_with_digest("settings", 1, body)

    @classmethod
    def from_json(cls, data: object) -> Settings:
        """Read what `to_json` wrote."""
        names = [x.name for x in dataclasses.fields(cls)]
        needed = tuple(name for name in names if name not in GAINED)
        body = record.unseal(data, "settings", 1, needed)
        with record.reading("settings", body):
            if not isinstance(body["control"], dict):
                raise UnreadableState("the control entry of the settings record is damaged")
            return cls(**{name: body[name] for name in names if name in body})


def _control(control: object, floor: float, arms: Arms) -> dict[str, float]:
    """Validate the shares of control arms; all floors together may add up to at most 1."""
    if not isinstance(control, Mapping):
        raise InvalidInput(
            f"must map arms to shares, such as {{'A': 0.1}}, got {control!r}", argument="control"
        )
    shares = {
        arms[arms.column(label, "control")]: check.number(
            share, "control", of=f"arm {label!r}", above=0.0, high=1.0
        )
        for label, share in control.items()
    }
    taken = math.fsum(max(floor, shares.get(label, 0.0)) for label in arms)
    if taken > 1.0 + 1e-12:
        raise InvalidInput(
            f"is {floor:g} and leaves nothing to decide: the floors of {len(arms)} arms, with "
            f"those of control, add up to {taken:g}, and may be at most 1",
            argument="floor",
        )
    return shares
