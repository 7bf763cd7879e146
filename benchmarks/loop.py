"""The C loop: compiled once into the cache folder, checked against our engine, called by ctypes."""

import ctypes
import hashlib
import math
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.cache import cache_folder
from benchmarks.clock import Job, cpu_cost
from driftanchor import Bandit, simulate
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import Stream, wrapping
from driftanchor.core.ziggurat import DENSITY, EDGE, TAIL
from driftanchor.errors import DriftanchorError
from driftanchor.policies import AnchorTS
from driftanchor.simulation.engine import allocate, keys_of, prepare
from driftanchor.simulation.world import world_of

SOURCE = Path(__file__).with_name("loop.c")
# Contracted to fused operations, sums would differ from ours in the last bit.
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
MISSING = "no C compiler (cc) is found, so nothing is compared with C: install gcc (Debian: gcc)"
_STEP = EDGE * 2.0**-52


class NoCompiler(Exception):
    """There is nothing to compile the C loop with."""


class _Ziggurat(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("edge", "per_step", "density")] + [
        ("tail", ctypes.c_double)
    ]


class _World(ctypes.Structure):
    _fields_ = [("arms", ctypes.c_int64)] + [
        (name, ctypes.c_void_p)
        for name in ("online", "offline_means", "bias_bounds", "offline_pulls")
    ]


class _State(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("pulls", "totals", "beliefs", "rewards")]


_ZIGGURAT = _Ziggurat(EDGE.ctypes.data, _STEP.ctypes.data, DENSITY.ctypes.data, TAIL)


class Start(NamedTuple):
    """What a run begins with."""

    offline_means: Floats
    rewards: Stream  # one row for each arm
    policy: Stream


class Loop(NamedTuple):
    """The compiled functions."""

    library: ctypes.CDLL

    def run(self, name: str, bandit: Bandit, start: Start, horizon: int) -> Ints:
        """The pulls of one run of `every_round` or `lazily`."""
        arms = len(bandit.online)
        pulls, totals, beliefs = np.empty(arms, np.int64), np.empty(arms), np.empty((arms, 4))
        rewards = start.rewards.copy()
        world = [bandit.online, start.offline_means, bandit.bias_bound, bandit.offline_pulls]
        getattr(self.library, name)(
            ctypes.byref(_World(arms, *(x.ctypes.data for x in world))),
            ctypes.byref(_State(*(x.ctypes.data for x in (pulls, totals, beliefs, rewards)))),
            ctypes.byref(_ZIGGURAT),
            ctypes.c_void_p(start.policy.ctypes.data),
            ctypes.c_int64(horizon),
        )
        return pulls

    def job(self, name: str, bandit: Bandit, runs: int, horizon: int) -> Job:
        """What a round costs; the starts are made before the clock runs."""
        starts = any_starts(bandit, runs)
        return lambda: cpu_cost(
            lambda: [self.run(name, bandit, start, horizon) for start in starts], runs * horizon
        )

    def floor_job(self, normals: int, rounds: int) -> Job:
        """What drawing so many normals costs."""
        stream = np.random.default_rng(0).integers(2**63, size=4, dtype=np.uint64)
        draw = self.library.normals
        draw.restype = ctypes.c_double
        return lambda: cpu_cost(
            lambda: draw(
                ctypes.c_void_p(stream.ctypes.data),
                ctypes.byref(_ZIGGURAT),
                ctypes.c_int64(normals * rounds),
            ),
            rounds,
        )


def load() -> Loop:
    """Compile the C file, unless that was done before, and load it."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NoCompiler(MISSING)
    digest = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:12]
    built = cache_folder() / f"loop-{digest}.so"
    if not built.exists():
        subprocess.run([compiler, *FLAGS, "-o", built, SOURCE, "-lm"], check=True)
    return Loop(ctypes.CDLL(str(built)))


def keyed_starts(bandit: Bandit, runs: int, seed: int) -> list[Start]:
    """The logs and streams that `simulate` gives to its runs."""
    world = world_of(bandit)
    keys = keys_of(seed, AnchorTS.name)
    starts = []
    for run in range(runs):
        state = allocate(world, AnchorTS())
        with wrapping():
            prepare(world, keys, run, state)
        starts.append(Start(state.evidence.offline_means, state.rewards, state.stream))
    return starts


def any_starts(bandit: Bandit, runs: int) -> list[Start]:
    """Logs and streams of the same law, drawn at once."""
    rng = np.random.default_rng(1)
    arms = len(bandit.online)
    deviations = bandit.noise / np.sqrt(np.maximum(bandit.offline_pulls, 1))
    return [
        Start(
            rng.normal(bandit.offline, deviations),
            rng.integers(2**64, size=(arms, 4), dtype=np.uint64),
            rng.integers(2**64, size=4, dtype=np.uint64),
        )
        for _ in range(runs)
    ]


def check(c: Loop, bandit: Bandit, engine: str, runs: int = 10, horizon: int = 300) -> None:
    """Make sure that C does the same job: the pulls of an engine, and the same law lazily."""
    ours = simulate("anchor-ts", bandit, engine=engine, runs=runs, horizon=horizon, seed=0).pulls[0]
    theirs = [c.run("every_round", bandit, x, horizon) for x in keyed_starts(bandit, runs, 0)]
    if not np.array_equal(ours, theirs):
        raise DriftanchorError(f"the C loop does not play the arms that {engine} plays")
    starts = any_starts(bandit, 2_000)
    lost = [
        np.array([c.run(name, bandit, start, horizon) @ bandit.gaps for start in starts])
        for name in ("every_round", "lazily")
    ]
    error = math.hypot(*(x.std() / math.sqrt(len(x)) for x in lost))
    if abs(lost[0].mean() - lost[1].mean()) > 5 * error:  # by chance once in a million
        raise DriftanchorError("drawn lazily, the C loop loses another regret than in full")
