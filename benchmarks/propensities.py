"""What the probabilities of all arms cost, beside one decision: both compiled, of the default."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Job, cpu_cost, in_turn, ratio, spread
from benchmarks.tables import Blocks, table
from driftanchor import GuardedAnchorTS
from driftanchor.compiled.kernels import kernel
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream, keyed_stream
from driftanchor.live.propensities import compiled, propensities
from driftanchor.policies.base import choose, moves_together, remember

RULE = GuardedAnchorTS(noise=0.5)
ARMS = (2, 10, 100, 1_000, 10_000)
REPEATS = {2: 4_000, 10: 2_000, 100: 200, 1_000: 20, 10_000: 4}
OVER_DECISION = "over one decision"
TEN, TEN_RELATIVE = "10 arms, V", "10 arms, W"


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
    tools = compiled(RULE)
    for seed in range(200):
        evidence = state(arms, relative, np.random.default_rng(seed))
        shares = propensities(RULE, evidence, last_round(evidence), tools)
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


def decided(policy: Any, evidence: Evidence, now: Round, stream: Stream) -> int:
    """One decision, to be compiled."""
    for column in range(evidence.pulls.size):
        remember(policy, evidence, column)
    return choose(policy, evidence, now, stream, moves_together(policy, evidence))


def works(evidence: Evidence) -> dict[str, Callable[[], object]]:
    """A decision, and the probabilities of all arms."""
    one, tools, now = kernel(type(RULE), decided), compiled(RULE), last_round(evidence)
    numbers, stream = RULE.numbers(), keyed_stream(1, "bench", 0)
    beliefs = np.zeros((evidence.pulls.size, compiled(RULE).beliefs))
    kept = evidence._replace(memory=beliefs)
    return {
        "a decision": lambda: one(numbers, kept, now, stream),
        "probabilities": lambda: propensities(RULE, evidence, now, tools),
    }


def job(work: Callable[[], object], repeats: int) -> Job:
    """What one call costs, compiled before the clock starts."""
    work()
    return lambda: cpu_cost(lambda: [work() for _ in range(repeats)], repeats)
