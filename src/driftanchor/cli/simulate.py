"""`driftanchor simulate`: policies in a simulated world, and what they lost."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs, parse, progress, regret, world_options
from driftanchor.errors import require

if TYPE_CHECKING:
    from driftanchor.policies import Policy
    from driftanchor.simulation.bandit import Bandit
    from driftanchor.simulation.result import Result


def simulate(
    online: opt.Online = None,
    offline: opt.Offline = None,
    offline_pulls: opt.OfflinePulls = None,
    offline_total: opt.OfflineTotal = None,
    coverage: opt.Coverage = None,
    bias_bound: opt.BiasBound = None,
    relative_bound: opt.RelativeBound = None,
    common_shift: opt.CommonShift = "0",
    reward: opt.Reward = "gaussian",
    noise: opt.Noise = None,
    delay: opt.Delay = "0",
    batch: opt.Batch = "1",
    policy: opt.Policies = None,
    horizon: opt.Horizon = "10000",
    runs: opt.Runs = "50",
    seed: opt.Seed = "0",
    checkpoints: opt.Checkpoints = "100",
    threads: opt.Threads = None,
    cluster: opt.Cluster = None,
    engine: opt.Engine = "auto",
    csv: opt.Csv = None,
    raw_csv: opt.RawCsv = False,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Run policies in a simulated bandit with logs, and show what they lose.

    Without options, this is the paper's biased base setting with every policy that takes its
    rewards.

    Examples:
      driftanchor simulate --runs 400 --plot regret.png
      driftanchor simulate --policy anchor-ts --policy ts --bias-bound inf
      driftanchor simulate --offline 0.8,0.5*9 --relative-bound 0.1 --common-shift -1
      driftanchor simulate --online 0.3,0.2*4 --offline same --reward bernoulli
      driftanchor simulate --policy ts --policy sure=anchor-ts:posterior_scale=4
      driftanchor simulate --policy ts --policy ./my_rule.py:MyRule:c=3
    """
    bandit = world_options.build(
        online=online,
        offline=offline,
        offline_pulls=offline_pulls,
        offline_total=offline_total,
        coverage=coverage,
        bias_bound=bias_bound,
        relative_bound=relative_bound,
        common_shift=common_shift,
        reward=reward,
        noise=noise,
        delay=delay,
        batch=batch,
    )
    from driftanchor.render.figure import SUFFIXES

    policies = parse.policies(policy or [], bandit.reward_range)
    csv_file, plot_file = outputs.destinations(
        outputs.Wanted("--csv", csv), outputs.Wanted("--plot", plot, SUFFIXES)
    )
    if plot is not None:
        require("matplotlib", extra="plot", why="--plot")
    effort: dict[str, Any] = {
        "horizon": parse.number(horizon, "--horizon"),
        "runs": parse.number(runs, "--runs"),
        "seed": parse.number(seed, "--seed"),
        "checkpoints": parse.checkpoints(checkpoints),
        "threads": None if threads is None else parse.number(threads, "--threads"),
        "cluster": cluster,
        "engine": engine,
    }
    result = _run(policies, bandit, effort, quiet)
    output.say(world_options.describe(bandit), quiet=quiet)

    def show() -> None:
        if as_json:
            output.show_json(regret.report(result, bandit, policies))
        else:
            output.show_table(regret.table(result))

    write_csv = functools.partial(result.to_csv, escape_formulas=not raw_csv)
    outputs.deliver(show, (csv_file, write_csv), (plot_file, result.plot), quiet=quiet)


def _run(
    policies: Mapping[str, Policy], bandit: Bandit, effort: Mapping[str, Any], quiet: bool
) -> Result:
    from driftanchor.simulation.chunk import ENGINES, fastest
    from driftanchor.simulation.run import simulate

    names = list(policies) if effort["cluster"] is None else ["on the cluster"]
    engine = ENGINES.get(fastest() if effort["engine"] == "auto" else effort["engine"])
    compiling = engine is not None and engine.compiled and engine.is_installed
    with (
        output.plain_warnings(quiet=quiet),
        progress.runs_bar(names, compiling=compiling, quiet=quiet) as advance,
    ):
        return simulate(policies, bandit, progress=advance, **effort)
