"""Cost of the probabilities of all arms over that of one decision, for the default rule."""

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Job, cpu_cost, in_turn, ratio, spread
from benchmarks.tables import Blocks, table
from driftanchor import GuardedAnchorTS
from driftanchor.compiled import kernels, rules
from driftanchor.compiled.overloads import parameters_of
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import key
from driftanchor.live.propensities import compiled, propensities

RULE = GuardedAnchorTS(noise=0.5)
ARMS = (2, 10, 100, 1_000, 10_000)
REPEATS = {2: 4_000, 10: 2_000, 100: 200, 1_000: 20, 10_000: 4}
OVER_DECISION = "over one decision"
TEN_RELATIVE = "10 arms, W"
ALL_ARMS = -1


def against_decisions(rounds: int) -> Blocks:
    """The table: probabilities over decisions, in rounds that draw."""
    rows = {}
    for name, evidence, repeats in cases():
        jobs = {what: job(work, repeats) for what, work in works(evidence).items()}
        costs = in_turn({f"{name}: {what}": job for what, job in jobs.items()}, max(rounds, 5))
        decision, all_arms = costs.values()
        rows[name] = [ratio(all_arms, decision), spread((1e6 * x for x in all_arms), "µs")]
    columns = ["default rule", OVER_DECISION, "time"]
    return table("bench-propensities", "Probabilities of all arms", columns, rows)


def cases() -> list[tuple[str, Evidence, int]]:
    """Rounds without a guard pull, by their name, and how often each is asked in one job."""
    found = [(f"{arms:,} arms, V", drawn(arms, relative=False), REPEATS[arms]) for arms in ARMS]
    return [*found, (TEN_RELATIVE, drawn(10, relative=True), 100)]


def drawn(arms: int, *, relative: bool) -> Evidence:
    """The first of some random states in which the default draws, and no arm is sure."""
    for seed in range(200):
        evidence = state(arms, relative, np.random.default_rng(seed))
        writer = compiled(RULE, evidence)
        shares = propensities(RULE, evidence, last_round(evidence), writer)
        if shares is not None and shares.max() < 0.9:
            return evidence
    raise RuntimeError(f"every state of {arms} arms has a guard pull or a sure arm")


def state(arms: int, relative: bool, rng: np.random.Generator) -> Evidence:
    """Arms that were all tried, with logs that fit."""
    means = rng.normal(0.4, 0.02, arms)
    pulls, logged = rng.integers(100, 1_000, arms), rng.integers(0, 300, arms)
    sample: Floats = means + 0.5 * rng.standard_normal(arms) / np.sqrt(pulls)
    offline = np.where(logged > 0, means, 0.0)
    none, some = np.full(arms, np.inf), np.full(arms, 0.1)
    return Evidence(
        pulls,
        sample * pulls,
        logged,
        offline,
        none if relative else some,
        np.ones(arms, np.bool_),
        np.zeros((arms, 0)),
        np.zeros(arms, np.int64),
        some if relative else none,
    )


def last_round(evidence: Evidence) -> Round:
    """The round after all pulls."""
    return Round(int(evidence.pulls.sum()) + 1, evidence.pulls.size)


def works(evidence: Evidence) -> dict[str, Callable[[], object]]:
    """Return a decision and the computation of all probabilities, both compiled."""
    now, writer = last_round(evidence), compiled(RULE, evidence)
    nothing: Ints = np.zeros(0, np.int64)
    tools = key(1, "bench"), np.empty(4, np.uint64), nothing
    arguments = parameters_of(RULE), evidence, *tools, *now, 1, ALL_ARMS
    decide = kernels.entry(kernels.rule(RULE, rules.live_chooser, *arguments), *arguments)
    return {
        "a decision": lambda: decide(*arguments),
        "probabilities": lambda: propensities(RULE, evidence, now, writer),
    }


def job(work: Callable[[], object], repeats: int) -> Job:
    """What one call costs, compiled before the clock starts."""
    work()
    return lambda: cpu_cost(lambda: [work() for _ in range(repeats)], repeats)
