"""`driftanchor identify`: how many pulls until the best arm is known, with logs and without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor import __version__
from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs, parse, progress, world_options
from driftanchor.core.record import encode
from driftanchor.render.numbers import MISSING, count
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.best_arm.identify import Identification
    from driftanchor.simulation.bandit import Bandit

RULE = "The rule"
LEGEND = (
    "lucb-h: with the logs and their bias bounds; lucb: without logs; trusting: with the logs, as "
    "if every bias bound were 0."
)

BiasBound = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="The bound V on |online − offline| that lucb-h is given; one number for all arms, "
        "inf for unknown.",
        show_default="the truth",
        rich_help_panel=opt.WORLD,
    ),
]
Reward = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How rewards vary: gaussian or bernoulli.",
        rich_help_panel=opt.WORLD,
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        metavar="SIGMA",
        help="Standard deviation of a gaussian reward, which the rules know.",
        show_default="1",
        rich_help_panel=opt.WORLD,
    ),
]
Delta = Annotated[
    str,
    typer.Option(
        metavar="CHANCE",
        help="The allowed chance of a wrong answer, as long as the bias bounds hold.",
        rich_help_panel=RULE,
    ),
]
Radius = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="anytime, which holds in all rounds at once, or paper, which is proved for a single "
        "fixed round.",
        rich_help_panel=RULE,
    ),
]
MostPulls = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="The number of pulls after which a run gives up.",
        rich_help_panel=opt.EFFORT,
    ),
]
Runs = Annotated[
    str, typer.Option(metavar="N", help="Number of runs of each rule.", rich_help_panel=opt.EFFORT)
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto, compiled (with Numba) or interpreted (slower, the same numbers).",
        rich_help_panel=opt.EFFORT,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the pulls and the answer of every rule and run to this file.",
        rich_help_panel=opt.OUTPUT,
    ),
]


def identify(
    online: opt.Online = None,
    offline: opt.Offline = None,
    offline_pulls: opt.OfflinePulls = None,
    offline_total: opt.OfflineTotal = None,
    coverage: opt.Coverage = None,
    bias_bound: BiasBound = None,
    reward: Reward = "gaussian",
    noise: Noise = None,
    delta: Delta = "0.05",
    radius: Radius = "anytime",
    runs: Runs = "1000",
    seed: opt.Seed = "0",
    most_pulls: MostPulls = "1000000",
    threads: opt.Threads = None,
    engine: Engine = "auto",
    csv: Csv = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Pull arms in a simulated bandit with logs until the best arm is known.

    Shows how many pulls it takes and how often the answer is wrong: for LUCB-H, which uses the logs
    and their bias bounds, for LUCB, which uses no logs, and for LUCB-H with logs that it trusts.
    Without options, this is the paper's biased base setting.

    Examples:
      driftanchor identify --offline same --offline-pulls 1000
      driftanchor identify --online 0.6,0.5 --offline 0.5,0.6 --reward bernoulli --delta 0.01
      driftanchor identify --online 0.8,0.5*9 --offline 0.5,0.8,0.5*8 --bias-bound 0.1
    """
    bandit = world_options.build(
        online=online,
        offline=offline,
        offline_pulls=offline_pulls,
        offline_total=offline_total,
        coverage=coverage,
        bias_bound=bias_bound,
        reward=reward,
        noise=noise,
    )
    (csv_file,) = outputs.destinations(outputs.Wanted("--csv", csv))
    effort: dict[str, Any] = {
        "delta": parse.number(delta, "--delta"),
        "radius": radius,
        "runs": parse.number(runs, "--runs"),
        "seed": parse.number(seed, "--seed"),
        "most_pulls": parse.number(most_pulls, "--most-pulls"),
        "threads": None if threads is None else parse.number(threads, "--threads"),
        "engine": engine,
    }
    from driftanchor.best_arm.identify import identify, rules_for

    with (
        output.plain_warnings(quiet=quiet),
        progress.runs_bar(rules_for(bandit), compiling=False, quiet=quiet) as advance,
    ):
        found = identify(bandit, progress=advance, **effort)
    output.say(world_options.describe(bandit), quiet=quiet)

    def show() -> None:
        if as_json:
            output.show_json(report(found, bandit))
        else:
            output.show_table(table(found, bandit))

    outputs.deliver(show, (csv_file, found.to_csv), quiet=quiet)


def report(found: Identification, bandit: Bandit) -> dict[str, Any]:
    """Return the results as JSON, with everything needed to reproduce them."""
    return {
        "rules": {
            rule: {name: encode(x) for name, x in statistics.items()}
            for rule, statistics in found.summary().items()
        },
        "best": bandit.arms[int(bandit.online.argmax())],
        "bounds_hold": not world_options.broken(bandit),
        "delta": found.delta,
        "radius": found.radius,
        "most_pulls": found.most_pulls,
        "runs": found.runs,
        "seed": found.seed,
        "bandit": world_options.as_json(bandit),
        "version": __version__,
    }


def table(found: Identification, bandit: Bandit) -> Table:
    """Pulls, stops and errors for people."""
    runs = count(found.runs, "run")
    return Table(
        f"pulls until the best arm is known, δ = {found.delta:g}, {runs}, seed {found.seed}",
        ("rule", "mean", "± se", "median", "q90", "q99", "max", "stopped", "wrong (95 %)"),
        tuple(_row(rule, x) for rule, x in found.summary().items()),
        note=" ".join([LEGEND, *_warnings(found, bandit)]),
    )


def _row(rule: str, x: dict[str, float]) -> tuple[str, ...]:
    pulls = [x[name] for name in ("mean", "se", "median", "q90", "q99", "max")]
    wrong = f"{100 * x['error']:.3g} % ({100 * x['error_low']:.2g}–{100 * x['error_high']:.2g})"
    cells = [MISSING if p != p else f"{p:,.0f}" for p in pulls]
    return (rule, *cells, f"{100 * x['stopped']:.4g} %", wrong)


def _warnings(found: Identification, bandit: Bandit) -> list[str]:
    """What a reader of the numbers must know."""
    said = [
        f"The bias bound of arm {bandit.arms[i]} is {bandit.bias_bound[i]:g} and its mean has "
        f"moved by {abs(bandit.shift[i]):g}: the promise does not hold, so lucb-h may be wrong "
        "more often than δ."
        for i in world_options.broken(bandit)[:1]
    ]
    if min(map(found.stopped, found.rules)) < 1.0:
        said.append(f"Runs that did not stop count with {found.most_pulls:,} pulls.")
    return said
