"""`driftanchor theory`: what the bounds say of given numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from driftanchor.cli import options as opt
from driftanchor.cli import output, parse, world_options
from driftanchor.core.record import encode
from driftanchor.errors import InvalidInput
from driftanchor.render.table import MOST_ROWS, Table, left_out

if TYPE_CHECKING:
    from driftanchor.simulation.bandit import Bandit


def theory(
    online: opt.Online = None,
    offline: opt.Offline = None,
    offline_pulls: opt.OfflinePulls = None,
    offline_total: opt.OfflineTotal = None,
    coverage: opt.Coverage = None,
    bias_bound: opt.BiasBound = None,
    relative_bound: opt.RelativeBound = None,
    common_shift: opt.CommonShift = "0",
    noise: opt.Noise = None,
    horizon: opt.Horizon = "10000",
    as_json: opt.Json = False,
) -> None:
    """Print the terms of the regret bounds for each sub-optimal arm.

    Without options, this is the paper's biased base setting. The numbers are pulls of an arm; its
    regret is the gap times its pulls. The proofs leave huge constants: here they are 1, or the best
    possible rate, so look at the shape and not at the level. With --relative-bound the numbers hold
    once the common move is known; what it costs to learn that move is not included.

    Examples:
      driftanchor theory
      driftanchor theory --online 0.6,0.5 --offline same --offline-pulls 100 --horizon 100000
    """
    from driftanchor.core.check import whole
    from driftanchor.theory.arm_terms import TERMS, arm_terms

    bandit = world_options.build(
        online=online,
        offline=offline,
        offline_pulls=offline_pulls,
        offline_total=offline_total,
        coverage=coverage,
        bias_bound=bias_bound,
        relative_bound=relative_bound,
        common_shift=common_shift,
        reward="gaussian",
        noise=noise,
    )
    if len({*bandit.arm_noise.tolist()}) > 1:
        raise InvalidInput(f"--noise {noise!r}: the bounds are for one noise of all arms")
    rounds = whole(parse.number(horizon, "--horizon"), "horizon", low=2)
    columns, terms = arm_terms(
        bandit.online,
        bandit.offline,
        bandit.offline_pulls,
        bandit.bias_bound,
        rounds,
        bandit.noise,
        bandit.relative_bound,
        bandit.common_shift,
    )
    _warn_of_broken_promises(bandit)
    arms = bandit.arms
    labels = [arms[column] for column in columns]
    rows = [[float(values[i]) for values in terms.values()] for i in range(len(labels))]
    if as_json:
        named = [dict(zip(terms, map(encode, row), strict=True)) for row in rows]
        by_arm = dict(zip(labels, named, strict=True))
        bandit_json = world_options.as_json(bandit)
        output.show_json({"arms": by_arm, "horizon": rounds, "bandit": bandit_json, "terms": TERMS})
    else:
        output.show_table(_table(labels, rows, rounds, TERMS))


def _warn_of_broken_promises(bandit: Bandit) -> None:
    broken = world_options.broken(bandit)
    if broken:
        first = broken[0]
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        output.say(
            f"warning: the mean of arm {bandit.arms[first]!r}{more} moved from "
            f"{bandit.offline[first]:g} to {bandit.online[first]:g}, further than its bounds "
            "allow: no theorem holds for these numbers"
        )


def _table(
    labels: list[str], rows: list[list[float]], horizon: int, terms: Mapping[str, str]
) -> Table:
    shown = [(label, *(f"{x:,.4g}" for x in row)) for label, row in zip(labels, rows, strict=True)]
    shown = shown[:MOST_ROWS]
    meanings = [f"{name}: {meaning}" for name, meaning in terms.items()]
    cut = left_out(len(shown), len(labels), "that come first")
    return Table(
        f"pulls of sub-optimal arms in {horizon:,} rounds",
        ("arm", *terms),
        tuple(shown),
        note="\n".join([cut, *meanings] if cut else meanings),
    )
