"""Scenes: play every contender in many worlds, in parallel, with noise paired by world."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.planning.contenders import Contender, Contenders, Given
from driftanchor.planning.effort import plays_in_batches
from driftanchor.planning.promise import Promise
from driftanchor.planning.words import listed
from driftanchor.policies.base import Policy
from driftanchor.simulation.bandit import Bandit, stack_means
from driftanchor.simulation.batches import SHARE, can_batch, largest_batch
from driftanchor.simulation.chunk import ENGINES, Chunk, fastest
from driftanchor.simulation.run import on_this_machine, threads_to_use, warn_without_numba

Progress = Callable[[int, int], None]
Lost = Mapping[str, Floats]  # by contender: what it lost in each world
Name = TypeVar("Name", bound=Hashable)


class Scene(NamedTuple):
    """A set of worlds, one bandit each, and the contenders that play in them.

    Attributes:
        bandits: The bandits for each kind of input: see `Given`.
        labels: The contenders that play.
    """

    bandits: Mapping[Given, Sequence[Bandit]]
    labels: tuple[str, ...]

    @property
    def worlds(self) -> int:
        """The number of worlds."""
        return len(next(iter(self.bandits.values())))


def scene_of(
    worlds: Callable[[Promise, bool], Sequence[Bandit]],
    told: Promise,
    contenders: Contenders,
) -> Scene:
    """Build the scene for a promise and some contenders.

    Args:
        worlds: Makes the worlds for a promise, with or without the logs.
        told: The promise that policies see.
        contenders: The contenders that play.
    """

    def made(given: Given) -> Sequence[Bandit]:
        promise = told.trusting() if given == "trust" and told.is_relative else told
        return worlds(promise, given != "nothing")

    needed = dict.fromkeys(one.given for one in contenders.values())
    return Scene({given: made(given) for given in needed}, tuple(contenders))


def fit_to_horizon(
    contenders: Contenders, horizon: int
) -> tuple[dict[str, Contender], tuple[str, ...]]:
    """Return the contenders that can play this many rounds, and notes on how they are played."""
    if not plays_in_batches(horizon):
        return dict(contenders), ()
    out = [
        label
        for label, one in contenders.items()
        if one.policy is not None and not can_batch(type(one.policy))
    ]
    kept = {label: one for label, one in contenders.items() if label not in out}
    assumed = (
        f"rewards are assumed to arrive in batches: a batch is 1/{SHARE} of all decisions before "
        f"it, at most {largest_batch(horizon):,} decisions"
    )
    if not out:
        return kept, (assumed,)
    return kept, (assumed, f"left out, because it plays one arm for a whole batch: {listed(out)}")


class Stage:
    """Plays scenes with all contenders and counts progress.

    Run w of every scene has the same noise, so scenes and contenders are paired by world. Long runs
    are played in batches of decisions; their contenders meet the same worlds, but other rewards.

    Args:
        contenders: The contenders.
        horizon: Rounds.
        seed: The seed of all noise.
        threads: The maximum number of threads.
        progress: Called with (runs done, total runs).
        early: Called with (scene, contender, losses) as soon as the contender is done.
    """

    def __init__(
        self,
        contenders: Contenders,
        *,
        horizon: int,
        seed: int,
        threads: int | None = None,
        progress: Progress | None = None,
        early: Callable[[Any, str, Floats], None] | None = None,
    ) -> None:
        self.contenders = contenders
        self.horizon = horizon
        self.seed = seed
        self.workers = threads_to_use(threads)
        self.progress = progress
        self.early = early
        self.engine = fastest(leaps=False)
        if not ENGINES[self.engine].compiled:
            warn_without_numba()
        self.done = 0
        self.total = 0

    def runs(self, scenes: Mapping[Name, Scene]) -> int:
        """Return the number of runs in some scenes."""
        return sum(
            scene.worlds
            for scene in scenes.values()
            for label in scene.labels
            if self.contenders[label].policy is not None
        )

    def play(self, scenes: Mapping[Name, Scene]) -> dict[Name, dict[str, Floats]]:
        """Return each contender's loss in each world of each scene."""
        self.total = self.done + self.runs(scenes)
        found: dict[Name, dict[str, Floats]] = {name: {} for name in scenes}
        chunks: list[Chunk] = []
        places: list[tuple[Name, str]] = []
        for name, scene in scenes.items():
            for label in scene.labels:
                one = self.contenders[label]
                bandits = scene.bandits[one.given]
                if one.policy is None:
                    found[name][label] = self.horizon * np.array([*map(gap_of_log_best, bandits)])
                    continue
                found[name][label] = np.empty(len(bandits))
                chunks.append(self._chunk(label, one.policy, bandits))
                places.append((name, label))
        if chunks:
            self._play(chunks, places, found)
        return found

    def _play(
        self,
        chunks: list[Chunk],
        places: Sequence[tuple[Name, str]],
        found: Mapping[Name, Mapping[str, Floats]],
    ) -> None:
        in_batches = plays_in_batches(self.horizon)
        playing = on_this_machine(chunks, self.workers, in_batches=in_batches)
        with contextlib.closing(playing) as played:
            for p, piece, (regret, _) in played:
                name, label = places[p]
                lost, start = found[name][label], piece.first
                lost[start : start + piece.runs] = regret[:, -1]
                self.done += piece.runs
                if self.early is not None and start + piece.runs == lost.size:
                    self.early(name, label, lost)
                if self.progress is not None:
                    self.progress(self.done, self.total)

    def _chunk(self, label: str, policy: Policy, bandits: Sequence[Bandit]) -> Chunk:
        """Return the runs of a contender in a scene, numbered by world."""
        return Chunk(
            label,
            policy,
            bandits[0],
            np.array([self.horizon]),
            self.engine,
            self.seed,
            0,
            len(bandits),
            stack_means(bandits),
        )


def gap_of_log_best(bandit: Bandit) -> float:
    """What a pull of the arm with the best logs loses.

    Example:
        >>> gap_of_log_best(Bandit([0.5, 0.25], offline=[0.1, 0.2], offline_pulls=9))
        0.25
    """
    logged = np.where(bandit.offline_pulls > 0, bandit.offline, -np.inf)
    return float(bandit.gaps[int(np.argmax(logged))])
