"""What a live decision costs: `Learner.pull` and `update`, beside peers and a NumPy loop."""

import random
import statistics
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.clock import Cell, cpu_cost, in_turn, ratio, say, spread
from benchmarks.peers import live_means
from benchmarks.peers.compare import environments, label
from benchmarks.peers.environments import Unusable, drive
from benchmarks.peers.live import ARMS as FEW
from benchmarks.peers.rewards import gaussian
from benchmarks.scale import power
from benchmarks.tables import Blocks, table
from driftanchor import Learner, OfflineData
from driftanchor.live import compiling, decide

LIVE_PEERS = ("pymab", "river")
MANY = {1_000: 2_000, 10_000: 400}  # arms, and rounds in one job
LOGS = 20  # of each arm
FRESH, LATER = "from the start", "after ten rewards of each arm"
NUMPY = "NumPy"
OVER_NUMPY = "over a NumPy loop"
UPDATES = 20_000
UPDATE_GROWTH = "`update` at 10⁴ arms over 2"
COST = "pull and update"


def over(name: str) -> str:
    """The heading over the ratios to a peer."""
    return f"over {label(name)}"


def arms_label(arms: int) -> str:
    """The row of so many arms."""
    return f"K = {power(arms)}"


def learner(means: Sequence[float]) -> Learner:
    """The default policy with logs of every arm, and decisions compiled if they can be."""
    logs = {str(i): (LOGS, mean, 1.0) for i, mean in enumerate(means)}
    made = Learner(offline=OfflineData.from_summary(logs), bias_bound=0.1, seed=0)
    for _ in range(decide.ENOUGH // len(means) + 1):
        made.pull()
    made.drop_pending()
    compiling.finish()
    return made


def play(made: Learner, means: Sequence[float], rounds: int) -> None:
    """Rounds of pull and update, with rewards as the peers get them."""
    reward, columns = gaussian(means), {name: i for i, name in enumerate(made.arms)}
    for _ in range(rounds):
        arm = made.pull()
        made.update(arm, reward(columns[arm]))


def against_peers(names: Sequence[str], rounds: int, horizon: int) -> Blocks:
    """The cost of a round with few arms, over that of Thompson sampling by each peer."""
    wanted = [name for name in LIVE_PEERS if name in names]
    pythons, troubles = environments(wanted)
    ours: dict[int, dict[str, list[float]]] = {arms: {} for arms in FEW}
    theirs: dict[int, dict[str, list[float]]] = {arms: {} for arms in FEW}
    jobs = {arms: _job(live_means(arms), horizon) for arms in FEW}
    for i in range(rounds):
        for name in [name for name in wanted if name not in troubles]:
            say(f"round {i + 1} of {rounds}: {label(name)}, live")
            before = {arms: job() for arms, job in jobs.items()}
            try:
                costs = drive(name, pythons[name], horizon, "live")
            except Unusable as trouble:
                troubles[name] = str(trouble)
                continue
            for arms, job in jobs.items():
                ours[arms].setdefault(name, []).append(statistics.mean([before[arms], job()]))
                theirs[arms].setdefault(name, []).append(costs[str(arms)])
    rows: dict[str, list[Cell | str | None]] = {}
    for arms in FEW:
        known = [name if name in theirs[arms] else "" for name in LIVE_PEERS]
        ratios = [ratio(ours[arms][x], theirs[arms][x]) if x else None for x in known]
        every = [x for costs in ours[arms].values() for x in costs]
        rows[arms_label(arms)] = [*ratios, spread((1e6 * x for x in every), "µs")]
    columns = ["arms", *(over(name) for name in LIVE_PEERS), COST]
    return table("bench-live", "A live decision of the default policy", columns, rows)


def _job(means: Sequence[float], rounds: int) -> Callable[[], float]:
    def job() -> float:
        made = learner(means)
        return cpu_cost(lambda: play(made, means, rounds), rounds)

    return job


def against_numpy(rounds: int) -> Blocks:
    """The cost of a round with many arms, over that of Thompson sampling in NumPy."""
    jobs: dict[str, Callable[[], float]] = {}
    for arms, horizon in MANY.items():
        means = live_means(arms)
        for when in (FRESH, LATER):
            jobs[f"{arms} {when}"] = _many_job(means, horizon, when == LATER)
        jobs[f"{arms} {NUMPY}"] = _numpy_job(means, horizon)
    costs = in_turn(jobs, rounds)
    rows = {
        f"{arms_label(arms)}, {when}": [
            ratio(costs[f"{arms} {when}"], costs[f"{arms} {NUMPY}"]),
            spread((1e6 * x for x in costs[f"{arms} {when}"]), "µs"),
        ]
        for arms in MANY
        for when in (FRESH, LATER)
    }
    columns = ["arms", OVER_NUMPY, COST]
    return table("bench-live-arms", "A live decision with many arms", columns, rows)


def _many_job(means: Sequence[float], rounds: int, later: bool) -> Callable[[], float]:
    def job() -> float:
        made = learner(means)
        if later:
            reward = gaussian(means)
            for _ in range(10):
                made.update(list(made.arms), [reward(i) for i in range(len(means))])
        return cpu_cost(lambda: play(made, means, rounds), rounds)

    return job


def _numpy_job(means: Sequence[float], rounds: int) -> Callable[[], float]:
    def job() -> float:
        reward, rng = gaussian(means), np.random.default_rng(0)
        pulls, totals = np.zeros(len(means)), np.zeros(len(means))
        mean, sd = np.zeros(len(means)), np.ones(len(means))

        def loop() -> None:
            for _ in range(rounds):
                arm = int(np.argmax(rng.normal(mean, sd)))
                pulls[arm] += 1.0
                totals[arm] += reward(arm)
                mean[arm] = totals[arm] / (pulls[arm] + 1.0)
                sd[arm] = 1.0 / np.sqrt(pulls[arm] + 1.0)

        return cpu_cost(loop, rounds)

    return job


def updates(rounds: int) -> Blocks:
    """What one reward costs with many arms, over its cost with two."""

    def update_job(arms: int) -> Callable[[], float]:
        made = learner(live_means(arms))
        pick = random.Random(0)
        labels = [made.arms[pick.randrange(arms)] for _ in range(UPDATES)]

        def loop() -> None:
            for arm in labels:
                made.update(arm, 0.25)

        return lambda: cpu_cost(loop, UPDATES)

    costs = in_turn({str(arms): update_job(arms) for arms in (2, 10_000)}, rounds)
    cells = [
        ratio(costs["10000"], costs["2"]),
        spread((1e6 * x for x in costs["2"]), "µs"),
        spread((1e6 * x for x in costs["10000"]), "µs"),
    ]
    columns = ["", UPDATE_GROWTH, "2 arms", "10⁴ arms"]
    return table("bench-update", "One reward", columns, {"`update`": cells})
