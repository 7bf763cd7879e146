"""Scenes: every contender in many worlds, all cores busy, noise paired world by world."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.plan.contenders import Contenders
from driftanchor.simulate.bandit import Bandit
from driftanchor.simulate.run import compiles, in_threads, parts, threads_to_use

Progress = Callable[[int, int], None]
Lost = Mapping[str, Floats]  # by contender: what it lost in each world
Name = TypeVar("Name", bound=Hashable)


class Scene(NamedTuple):
    """What may be out there: one bandit for each world, with the logs and without them."""

    bandits: Sequence[Bandit]
    cold: Sequence[Bandit]
    labels: tuple[str, ...]  # the contenders that play


def play(
    scenes: Mapping[Name, Scene],
    contenders: Contenders,
    *,
    horizon: int,
    seed: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Name, dict[str, Floats]]:
    """What each contender loses in each world of each scene, in one run.

    Run w of every scene has the same noise, so scenes and contenders are compared world by world.
    Every round is played: engines that leap compile longer than these few runs take, and would not
    draw the same rewards for all.
    """
    one = next(iter(scenes.values())).bandits[0]
    policy = next(iter(contenders.values())).policy
    engine = "every-round" if compiles() else "auto"
    like = parts([policy], one, horizon=horizon, runs=1, seed=seed, checkpoints=1, engine=engine)[0]
    pieces = [
        dataclasses.replace(like, name=label, policy=contenders[label].policy, bandit=b, first=w)
        for scene in scenes.values()
        for label in scene.labels
        for w, b in enumerate(scene.cold if contenders[label].cold else scene.bandits)
    ]
    workers = threads_to_use(threads)
    lost = np.empty(len(pieces))
    with contextlib.closing(in_threads(pieces, workers)) as played:
        for done, (p, _, (regret, _)) in enumerate(played, 1):
            lost[p] = regret[0, -1]
            if progress is not None:
                progress(done, len(pieces))
    return _by_scene(scenes, lost)


def _by_scene(scenes: Mapping[Name, Scene], lost: Floats) -> dict[Name, dict[str, Floats]]:
    found: dict[Name, dict[str, Floats]] = {}
    at = 0
    for name, scene in scenes.items():
        found[name] = {}
        for label in scene.labels:
            found[name][label] = lost[at : at + len(scene.bandits)]
            at += len(scene.bandits)
    return found
