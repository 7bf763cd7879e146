"""Options that several commands share: their names, help and completion.

Numbers arrive as text: `driftanchor.cli.parse` reads them, so that all errors read alike.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

WORLD = "The simulated world"
POLICIES = "The policies"
EFFORT = "How long and how often"
OUTPUT = "Output"


def _among(module: str, names: str) -> Callable[[str], list[str]]:
    """Shell completion from a collection that is imported only when a shell asks."""

    def complete(incomplete: str) -> list[str]:
        known = getattr(importlib.import_module(module), names)
        return [name for name in known if name.startswith(incomplete)]

    return complete


Online = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Mean online reward of each arm; 0.5*9 means nine arms with 0.5.",
        show_default="0.8,0.5*9",
        rich_help_panel=WORLD,
    ),
]
Offline = Annotated[
    str | None,
    typer.Option(
        metavar="LIST|same",
        help="Mean logged reward of each arm; 'same' if the logs are unbiased.",
        show_default="0.5,0.6*9, and no logs with --online",
        rich_help_panel=WORLD,
    ),
]
OfflinePulls = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Number of logged rewards of each arm; one number for all arms.",
        show_default="200",
        rich_help_panel=WORLD,
    ),
]
OfflineTotal = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Number of logged rewards of all arms together, instead of --offline-pulls.",
        rich_help_panel=WORLD,
    ),
]
Coverage = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How logged rewards are spread over the arms: uniform, optimal (80 % to arm 1) or "
        "suboptimal (80 % to arm 2).",
        show_default="uniform",
        autocompletion=_among("driftanchor.simulation.bandit", "COVERAGES"),
        rich_help_panel=WORLD,
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="The bound V on |online − offline| that policies are given; one number for all arms, "
        "inf for unknown.",
        show_default="the truth, and inf with --relative-bound",
        rich_help_panel=WORLD,
    ),
]
RelativeBound = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="The bound W on |online − offline − c| that policies are given, where all arms may "
        "have moved by any c together; one number for all arms.",
        show_default="none",
        rich_help_panel=WORLD,
    ),
]
CommonShift = Annotated[
    str,
    typer.Option(
        metavar="MOVE",
        help="How far all arms have moved together since the logs; it is added to --online.",
        rich_help_panel=WORLD,
    ),
]
Reward = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How rewards vary: gaussian, bernoulli or student (heavy tails).",
        autocompletion=_among("driftanchor.simulation.bandit", "LAWS"),
        rich_help_panel=WORLD,
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Standard deviation of a gaussian or student reward of each arm; one number for all "
        "arms. It does not change what policies assume; for that, use --policy ts:noise=0.1.",
        show_default="1",
        rich_help_panel=WORLD,
    ),
]
Delay = Annotated[
    str,
    typer.Option(
        metavar="ROUNDS",
        help="How many rounds later a reward is seen.",
        rich_help_panel=WORLD,
    ),
]
Batch = Annotated[
    str,
    typer.Option(
        metavar="ROUNDS",
        help="How many rounds are decided at once, before any of their rewards is seen.",
        rich_help_panel=WORLD,
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="\\[label=]name\\[:parameter=value,...]; repeat for several. "
        "'driftanchor policies' lists them. The name of a policy of your own is module:Class or "
        "folder/file.py:Class.",
        show_default="all that take such rewards",
        autocompletion=_among("driftanchor.policies", "POLICIES"),
        rich_help_panel=POLICIES,
    ),
]
Horizon = Annotated[
    str, typer.Option(metavar="N", help="Number of rounds in a run.", rich_help_panel=EFFORT)
]
Runs = Annotated[
    str, typer.Option(metavar="N", help="Number of runs of each policy.", rich_help_panel=EFFORT)
]
Seed = Annotated[
    str,
    typer.Option(
        metavar="N",
        help="Seed of the random numbers: the same seed gives the same results.",
        rich_help_panel=EFFORT,
    ),
]
Checkpoints = Annotated[
    str,
    typer.Option(
        metavar="N|LIST",
        help="How many points of the regret curve to keep for --csv and --plot, or at which "
        "rounds.",
        rich_help_panel=EFFORT,
    ),
]
Threads = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Largest number of threads; the results do not depend on it.",
        show_default="all cores",
        rich_help_panel=EFFORT,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on the Dask cluster of this scheduler, such as tcp://127.0.0.1:8786; the results "
        "do not depend on it.",
        show_default="this machine",
        rich_help_panel=EFFORT,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto, every-round, thinned (draws fewer samples), events (also draws sums of "
        "rewards, for long horizons) or interpreted (without Numba, on one core).",
        autocompletion=_among("driftanchor.simulation.chunk", "ENGINE_NAMES"),
        rich_help_panel=EFFORT,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the regret of every policy, run and checkpoint to this file.",
        rich_help_panel=OUTPUT,
    ),
]
RawCsv = Annotated[
    bool,
    typer.Option(
        "--raw-csv",
        help="Write names to CSV files unchanged. By default a name that a spreadsheet would run "
        "as a formula, such as =1+1, gets an apostrophe.",
        rich_help_panel=OUTPUT,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw the mean regret over the rounds into this file: .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print no messages and no progress bar, only results and errors.",
        rich_help_panel=OUTPUT,
    ),
]
