"""Assessment: what logs are worth, from playing policies with and without them."""

from __future__ import annotations

import abc
import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.record import encode
from driftanchor.core.stats.intervals import Estimate, mean_estimate
from driftanchor.core.stats.summary import summarise
from driftanchor.planning import verdict_prose
from driftanchor.planning.compare import Compared
from driftanchor.planning.contenders import RULE, Contenders
from driftanchor.planning.curve import QUANTILES, Curve
from driftanchor.planning.promise import Promise
from driftanchor.planning.reward_law import RewardLaw
from driftanchor.planning.safe_choice import BASELINE, SafeChoice, Safety
from driftanchor.planning.scenes import Lost
from driftanchor.planning.words import Texts
from driftanchor.planning.worlds import against
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular
from driftanchor.version import __version__

USE, WITHOUT = "use", "without"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessment(Tabular, abc.ABC):
    """An estimate of what logs are worth.

    Attributes:
        offline: The logs.
        promise: How far means may have moved since the logs.
        horizon: Rounds.
        worlds: The number of worlds; each policy plays once in each.
        seed: The seed of all noise.
        law: The reward distribution.
        contenders: The rules compared.
        reasons: Why the default rule has its parameters.
        notes: Other remarks.
        compared: The losses of all contenders.
    """

    each: ClassVar[str] = "worlds"  # the noun for one run in sentences

    offline: OfflineData
    promise: Promise
    horizon: int
    worlds: int
    seed: int
    law: RewardLaw
    contenders: Contenders
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    compared: Compared

    @property
    def bias_bounds(self) -> Floats:
        """V of each arm; infinite if no bias bound is declared."""
        return self.promise.levels

    @property
    def relative_bounds(self) -> Floats:
        """W of each arm; infinite if no relative bound is declared."""
        return self.promise.apart

    @property
    def lost(self) -> Lost:
        """The loss of each contender in each world."""
        return self.compared.lost

    @property
    def by_shift(self) -> Curve:
        """The losses of all contenders at each shift."""
        return self.compared.by_shift

    @property
    def choice(self) -> SafeChoice:
        """The recommendation: the safe rules and the best one."""
        return self.compared.choice

    @property
    def baseline(self) -> str:
        """The default rule without the logs; every rule is compared with it."""
        return BASELINE

    @property
    def best_policy(self) -> str:
        """The recommended rule: one that uses the logs, or the baseline."""
        return self.choice.best

    @property
    def safety(self) -> dict[str, Safety]:
        """The risk of each contender."""
        return dict(self.choice.safety)

    @property
    def cold_loss(self) -> float:
        """The mean loss without the logs."""
        return float(self.lost[self.baseline].mean())

    def saved(self, label: str = RULE) -> Estimate:
        """Return how much less a policy loses than the baseline, paired by world."""
        check.choice(label, "label", tuple(self.lost))
        return mean_estimate(self.lost[self.baseline] - self.lost[label])

    @property
    def decision(self) -> str:
        """`"use"` if a safe rule saves enough with the logs to matter, else `"without"`."""
        return USE if self.choice.uses_logs else WITHOUT

    @property
    def largest_shift(self) -> float:
        """The largest shift tried."""
        return float(self.by_shift.x[-1] * self.by_shift.unit)

    @property
    def break_even_policy(self) -> str:
        """The rule that the break-even is for: the best one with the logs."""
        return self.choice.rule

    @property
    def break_even(self) -> Estimate:
        """The shift up to which logs help that rule; infinite if they help at all shifts tried."""
        return self.compared.break_even

    @property
    def worst_moves(self) -> dict[str, float]:
        """The worst-case move of each arm, the same for every rule; arms that stay are absent.

        Rates stay between 0 and 1. With a relative bound, all arms may also move together.
        """
        return moves_within(self, self.promise.reach)

    @property
    def break_even_shift(self) -> float:
        """The break-even, capped at the largest shift tried."""
        return min(self.break_even.value, self.largest_shift)

    @property
    @abc.abstractmethod
    def answer(self) -> str:
        """The answer in one sentence."""

    @property
    @abc.abstractmethod
    def limit(self) -> str:
        """The break-even in one sentence."""

    @property
    def instead(self) -> str:
        """Say in one sentence how to play without the logs; empty if nothing needs doing."""
        return ""

    @property
    def verdict(self) -> str:
        """The answer, the risk, a bolder rule if there is one, and the break-even."""
        return " ".join((self.answer, *self.details))

    @property
    def details(self) -> tuple[str, ...]:
        """The sentences of the verdict after the answer."""
        return verdict_prose.details(self)

    @abc.abstractmethod
    def texts(self) -> Texts:
        """Return the texts of the page."""

    def summary(self) -> dict[str, dict[str, float]]:
        """Return each contender's mean loss, standard error, median, 95 % quantile and maximum."""
        return {label: summarise(lost, QUANTILES) for label, lost in self.lost.items()}

    def _line(self) -> str:
        played = f"{count(self.worlds, 'world')} of {count(self.horizon, 'round')}"
        return f"{self.decision}, best policy {self.best_policy}, {played}, seed {self.seed}"

    def _caption(self) -> str:
        return self.answer

    def _columns(self) -> dict[str, list[object]]:
        rows = self.summary()
        saved = [self.saved(label) for label in rows]
        return {
            "policy": list(rows),
            **{name: [row[name] for row in rows.values()] for name in rows[self.baseline]},
            "saved": [x.value for x in saved],
            "saved_low": [x.low for x in saved],
            "saved_high": [x.high for x in saved],
            "worst_case": [self.safety[label].extra.value for label in rows],
            "safe": [self.safety[label].safe for label in rows],
        }

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        provenance = self.offline.provenance
        shifts = {"shift": (self.by_shift.x * self.by_shift.unit).tolist()}
        return {
            "verdict": self.verdict,
            "decision": self.decision,
            "best_policy": self.best_policy,
            "rule": RULE,
            "baseline": self.baseline,
            "saved": self.saved(self.break_even_policy).to_json(),
            "break_even_policy": self.break_even_policy,
            "break_even_shift": self.break_even_shift,
            "break_even": self._even(self.break_even),
            "policies": {
                label: {
                    **{word: encode(x) for word, x in numbers.items()},
                    "saved": self.saved(label).to_json(),
                }
                for label, numbers in self.summary().items()
            },
            "worst_case": self.worst_moves,
            "safety": {label: x.to_json() for label, x in self.safety.items()},
            "by_shift": self.by_shift.to_json(shifts),
            **self.promise.to_json(self.offline.arms),
            "horizon": self.horizon,
            "worlds": self.worlds,
            "seed": self.seed,
            "law": {"name": self.law.name, "noise": self.law.noise, "why": self.law.why},
            "parameters": {label: one.to_json() for label, one in self.contenders.items()},
            "reasons": list(self.reasons),
            "notes": list(self.notes),
            "provenance": None if provenance is None else provenance.to_json(),
            "rows_read": None if provenance is None else provenance.rows_read,
            "rows_rejected": {} if provenance is None else dict(provenance.rows_rejected),
            "version": __version__,
        }

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Write a self-contained HTML page."""
        from driftanchor.files import write_whole
        from driftanchor.planning.assessment_page import render

        with write_whole(path) as file:
            file.write_text(render(self), encoding="utf-8")

    def _even(self, even: Estimate) -> dict[str, Any]:
        value, low, high = (min(x, self.largest_shift) for x in even)
        return {"shift": value, "low": low, "high": high, "reached": bool(np.isfinite(even.value))}


def moves_within(found: Assessment, reach: Floats) -> dict[str, float]:
    """Return the adversarial move of each arm, at most `reach`; arms that stay are absent."""
    logs = found.offline
    shift = against(logs, reach, found.horizon)
    if found.law.name == "bernoulli":
        logged = np.where(logs.n > 0, logs.mean, logs.pooled_mean())
        shift = np.clip(logged + shift, 0.0, 1.0) - logged
    return {arm: float(move) for arm, move in zip(logs.arms, shift, strict=True) if move != 0}
