"""The worlds and the rules of the page on two promises, and what was aimed at in each world."""

from typing import Any, NamedTuple

from driftanchor.policies import TS, AnchorTS, GuardedAnchorTS, HierarchicalTS, HybridTS
from driftanchor.policies.base import Policy
from driftanchor.simulation import Bandit

Cell = dict[str, float]

GAPS = {0.02: 40_000, 0.1: 1_600, 0.3: 200, 1.0: 50, 3.0: 20}  # σ, and the logs of each arm
GRID = 1.1  # of TS's mean, and of its q99 where the promise is kept
BROKEN = 2.0  # of TS's q99 where it is broken
MORE = 4  # times the runs where there are two arms: they are cheap, and gaps are small there
RIGHT, REVERSED = "gap 0.02, logs right", "gap 0.02, order reversed"
DEFAULT, PROVED, OLD = "**default**", "default, proved", "default before"
RULES: dict[str, Policy] = {
    "TS": TS(),
    "hierarchical TS": HierarchicalTS(),
    "hybrid TS": HybridTS(),
    "Anchor-TS": AnchorTS(),
    DEFAULT: GuardedAnchorTS(),
    PROVED: GuardedAnchorTS(budget=0.0, eps=0.0),
}


class World(NamedTuple):
    """A world, and what the default may lose in it, as parts of what TS loses."""

    bandit: Bandit
    mean: float | None = GRID
    q99: float | None = GRID
    proved: float | None = None  # for the mean of the default with a proved bound
    before: float | None = None  # for the mean, as a part of what the default before lost
    horizon: int = 10_000


def relative(
    online: list[float],
    offline: list[float],
    logs: int | list[int],
    *,
    bound: float = 0.0,
    common: float = 0.0,
    delay: int = 0,
    batch: int = 1,
) -> Bandit:
    """A world whose logs come with a relative bound; all arms may have moved by `common`."""
    late: dict[str, Any] = {"delay": delay, "batch": batch}
    return Bandit(online, offline, logs, relative_bound=bound, common_shift=common, **late)


def ten(best: float, others: float) -> list[float]:
    """The means of ten arms, one of which is the best or was logged as such."""
    return [best] + [others] * 9


def aims() -> dict[str, World]:
    """Every world with an aim, but those of the grid."""
    live, reversed_ = ten(0.8, 0.5), ten(0.5, 0.6)
    two, slow = [0.1, 0.0], 20_000
    worlds = {
        "all arms 1 σ up": World(relative(live, live, 200, common=1.0), 0.5, 1.0, 0.25),
        "all arms 1 σ down": World(relative(live, live, 200, common=-1.0), 0.5, 1.0, 0.25),
        "order reversed": World(relative(live, reversed_, 200), 1.0, 1.0),
        "best arm logged 0.6 too low": World(relative(live, ten(0.2, 0.5), 200), q99=BROKEN),
        "no logs of the best arm": World(relative(live, live, [0] + [200] * 9)),
        "1 σ up, own moves of 0.1, W = 0.1": World(
            relative(live, ten(0.7, 0.6), 200, bound=0.1, common=1.0)
        ),
    }
    for late in ({"batch": 50}, {"delay": 100}):
        ((how, by),) = late.items()
        name = f"batches of {by}" if how == "batch" else f"delay of {by}"
        worlds[f"{name}, logs right"] = World(relative(live, live, 200, **late))
        worlds[f"{name}, order reversed"] = World(
            relative(live, reversed_, 200, **late), q99=BROKEN
        )
    many = 40_000
    worlds |= {
        RIGHT: World(relative([0.02, 0.0], [0.02, 0.0], many), 0.25, horizon=slow),
        REVERSED: World(relative([0.02, 0.0], [0.0, 0.02], many), q99=BROKEN, horizon=slow),
        "gap 0.1, logs right": World(relative(two, two, 1_000), horizon=slow),
        "gap 0.1, order reversed": World(relative(two, two[::-1], 1_000), q99=BROKEN, horizon=slow),
        "gap 0.1, best arm logged 0.5 too low": World(
            relative(two, [-0.4, 0.0], 1_000), q99=BROKEN, horizon=slow
        ),
        "gap 0.02, order reversed, V = 0": World(
            Bandit([0.02, 0.0], [0.0, 0.02], many, 0.0), q99=BROKEN, horizon=slow
        ),
        "gap 0.1, order reversed, V = 0": World(
            Bandit(two, two[::-1], 1_000, 0.0), q99=BROKEN, horizon=slow
        ),
        "levels hold: logs right, V = 0": World(Bandit(live, live, 200), before=1.05),
        "levels hold: no logs of the best arm, V = 0": World(
            Bandit(live, live, [0] + [200] * 9), before=1.05
        ),
        "levels hold: logs mislead, V right": World(Bandit(live, reversed_, 200), before=1.05),
        "no logs at all": World(Bandit(live), before=1.05),
    }
    return worlds


class Place(NamedTuple):
    """A world of the grid."""

    gap: float
    arms: int
    logs: str  # right, wrong or absent

    @property
    def label(self) -> str:
        """Its name in files."""
        return f"grid: gap {self.gap:g}, {self.arms} arms, logs {self.logs}"


def grid() -> dict[Place, World]:
    """Gaps by numbers of arms by what the logs are."""
    found = {}
    for gap, logged in GAPS.items():
        for arms in (2, 10):
            best, worst = [gap] + [0.0] * (arms - 1), [0.0] + [gap] * (arms - 1)
            bandits = {
                "right": relative(best, best, logged),
                "wrong": relative(best, worst, logged),
                "absent": Bandit(best),
            }
            for logs, bandit in bandits.items():
                horizon = 20_000 if gap == min(GAPS) else 10_000
                q99 = BROKEN if logs == "wrong" else GRID
                found[Place(gap, arms, logs)] = World(bandit, q99=q99, horizon=horizon)
    return found


def blind(bandit: Bandit) -> Bandit:
    """The same world with logs that are taken as they are: W = 0."""
    if not bandit.is_relative:
        return bandit
    return Bandit(
        bandit.online,
        bandit.offline,
        bandit.offline_pulls,
        delay=bandit.delay,
        batch=bandit.batch,
        relative_bound=0.0,
    )
