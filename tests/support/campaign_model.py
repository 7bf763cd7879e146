"""What a campaign must do, in plain dictionaries and without a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Model:
    """A campaign of three arms.

    Attributes:
        options: The settings that matter here.
        now: The time.
    """

    options: dict[str, Any]
    now: float = 1_000.0
    decisions: dict[str, dict[str, Any]] = field(default_factory=dict)
    holds: dict[str, str] = field(default_factory=dict)
    archived: set[str] = field(default_factory=set)
    paused: set[str] = field(default_factory=set)
    stopped: bool = False
    late: int = 0

    @property
    def playable(self) -> set[str]:
        return {"A", "B", "C"} - self.archived - self.paused

    def replay(self, unit: str | None, exclude: set[str]) -> str | None:
        """The decision that a unit must get again, if there is one."""
        self.sweep()
        if unit is None or self.options["sticky"] is None:
            return None
        held = self.holds.get(unit)
        if held is None or self.decisions[held]["arm"] in self.archived | exclude:
            return None
        return held

    def decided(self, one: str, arm: str, unit: str | None) -> None:
        assert one not in self.decisions
        waits = self.options["exposure"] == "ask"
        self.decisions[one] = {"arm": arm, "unit": unit, "state": "assigned", "reported": None}
        if waits:
            self.expose(one)
        if unit is not None and self.options["sticky"] is not None:
            self.holds[unit] = one

    def expose(self, one: str) -> str:
        self.sweep()
        decision = self.decisions[one]
        if decision["state"] != "assigned":
            return "replayed"
        decision.update(state="open", due=self.now + self.options["reward_window"])
        return "recorded"

    def tell(self, one: str, reward: float) -> str:
        """The status that a reward must get; `"conflict"` if it must be refused."""
        self.sweep()
        decision = self.decisions[one]
        if decision["reported"] is not None:
            return "replayed" if decision["reported"] == reward else "conflict"
        decision["reported"] = reward
        if decision["state"] in ("assigned", "open"):
            self._settle(one, "rewarded", reward)
            return "recorded"
        if self.options["late"] == "ignore":
            self.late += 1
            return "late"
        decision.update(state="rewarded", reward=reward)
        return "corrected"

    def sweep(self) -> int:
        """Settle what is due; how many there were."""
        due = [
            x for x, d in self.decisions.items() if d["state"] == "open" and d["due"] <= self.now
        ]
        default = self.options["default_reward"]
        for one in due:
            self._settle(one, "expired" if default is None else "defaulted", default)
        return len(due)

    def _settle(self, one: str, state: str, reward: float | None) -> None:
        self.decisions[one].update(state=state, reward=reward)
        if self.options["sticky"] == "decision":
            self.holds = {unit: held for unit, held in self.holds.items() if held != one}

    def sums(self) -> dict[str, tuple[int, int, float, int]]:
        """Of each arm: decisions, rewards, their sum, and how many wait."""
        found = {}
        for arm in "ABC":
            own = [d for d in self.decisions.values() if d["arm"] == arm]
            rewards = [d["reward"] for d in own if d.get("reward") is not None]
            waiting = sum(d["state"] == "open" for d in own)
            found[arm] = (len(own), len(rewards), sum(rewards), waiting)
        return found
