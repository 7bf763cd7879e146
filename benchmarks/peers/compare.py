"""Ours against each peer: TS and UCB with ten arms, in turn."""

import statistics
from pathlib import Path

from benchmarks.clock import Cell, ratio, say
from benchmarks.engines import has_numba, usual_job
from benchmarks.peers import MEANS, PEERS, POLICIES
from benchmarks.peers.environments import Unusable, build, drive
from benchmarks.tables import Blocks, table
from driftanchor import Bandit

REPEATS = 5  # of our jobs, which are short, before and after each of a peer's, which are long
Costs = dict[str, list[float]]  # a policy, or a policy and an engine of ours


def label(name: str) -> str:
    """The peer and its version."""
    return f"{name} {PEERS[name].version}"


def column(policy: str, engine: str) -> str:
    """The heading over the ratios of a policy with one of our engines."""
    return f"{policy.upper()}, `{engine}`"


def against_peers(names: list[str], rounds: int, shorten: int) -> Blocks:
    """How many times faster a round is with us; `shorten` divides the peers' horizons."""
    engines = ["auto", "every-round"] if has_numba() else ["auto"]
    kinds = [(policy, engine) for policy in POLICIES for engine in engines]
    jobs = {column(*kind): usual_job(kind[0], Bandit(MEANS), kind[1]) for kind in kinds}
    pythons, troubles = environments(names)
    costs: dict[str, Costs] = {name: {} for name in names}
    for i in range(rounds):
        for name in [name for name in names if name not in troubles]:
            say(f"round {i + 1} of {rounds}: {label(name)}")
            before = {key: [job() for _ in range(REPEATS)] for key, job in jobs.items()}
            try:
                theirs = drive(name, pythons[name], PEERS[name].horizon // shorten)
            except Unusable as trouble:
                troubles[name] = str(trouble)
                continue
            after = {key: [job() for _ in range(REPEATS)] for key, job in jobs.items()}
            ours = {key: statistics.median(before[key] + after[key]) for key in jobs}
            for key, cost in {**theirs, **ours}.items():
                costs[name].setdefault(key, []).append(cost)
    rows = {
        label(name): [
            *(_cell(costs[name], *kind, trouble=name in troubles) for kind in kinds),
            f"{PEERS[name].horizon // shorten:,}",
            troubles.get(name, PEERS[name].note),
        ]
        for name in names
    }
    columns = ["peer", *jobs, "its rounds", "how it is driven, and what is not the same job"]
    return table("bench-peers", "Times as fast as each peer", columns, rows)


def environments(names: list[str]) -> tuple[dict[str, Path], dict[str, str]]:
    """The Python of each peer, and why some have none."""
    pythons, troubles = {}, {}
    for name in names:
        try:
            pythons[name] = build(name, PEERS[name])
        except Unusable as trouble:
            troubles[name] = str(trouble)
            say(f"{label(name)} {trouble}")
    return pythons, troubles


def _cell(costs: Costs, policy: str, engine: str, trouble: bool) -> Cell | None:
    if trouble or policy not in costs:
        return None
    return ratio(costs[policy], costs[column(policy, engine)])
