"""The options of `driftanchor simulate`: their names, help and completion.

Numbers arrive as text: `driftanchor.cli.parse` reads them, so that every bad value is told alike.
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
        help="Mean online reward of each arm; 0.5*9 stands for nine times 0.5.",
        show_default="0.8,0.5*9",
        rich_help_panel=WORLD,
    ),
]
Offline = Annotated[
    str | None,
    typer.Option(
        metavar="LIST|same",
        help="Mean of each arm's logged rewards; 'same' for unbiased logs.",
        show_default="0.5,0.6*9, and no logs with --online",
        rich_help_panel=WORLD,
    ),
]
OfflinePulls = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="Logged rewards of each arm; one number for all.",
        show_default="200",
        rich_help_panel=WORLD,
    ),
]
OfflineTotal = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Logged rewards in all, instead of --offline-pulls.",
        rich_help_panel=WORLD,
    ),
]
Coverage = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who has them: uniform, optimal (80 % arm 1) or suboptimal (80 % arm 2).",
        show_default="uniform",
        autocompletion=_among("driftanchor.simulation.coverage", "COVERAGES"),
        rich_help_panel=WORLD,
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="What policies are told of |online − offline|; one number for all, inf for unknown.",
        show_default="the truth, and inf with --relative-bound",
        rich_help_panel=WORLD,
    ),
]
RelativeBound = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="What policies are told of |online − offline − common move|, when the common move of "
        "all arms may be anything; one number for all.",
        show_default="nothing",
        rich_help_panel=WORLD,
    ),
]
CommonShift = Annotated[
    str,
    typer.Option(
        metavar="MOVE",
        help="How far all arms moved together since the logs; added to --online.",
        rich_help_panel=WORLD,
    ),
]
Reward = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="gaussian, bernoulli or student (heavy tails).",
        autocompletion=_among("driftanchor.simulation.bandit", "LAWS"),
        rich_help_panel=WORLD,
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        metavar="SIGMA",
        help="Standard deviation of a gaussian or student reward. Policies go on assuming "
        "theirs: --policy ts:noise=0.1.",
        show_default="1",
        rich_help_panel=WORLD,
    ),
]
Delay = Annotated[
    str,
    typer.Option(
        metavar="ROUNDS",
        help="Rounds that go by before a reward is seen.",
        rich_help_panel=WORLD,
    ),
]
Batch = Annotated[
    str,
    typer.Option(
        metavar="ROUNDS",
        help="Rounds that arms are chosen for at once, before any of their rewards is seen.",
        rich_help_panel=WORLD,
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="\\[label=]name\\[:parameter=value,...]; repeat for several. "
        "'driftanchor policies' lists them.",
        show_default="all",
        autocompletion=_among("driftanchor.policies", "POLICIES"),
        rich_help_panel=POLICIES,
    ),
]
Horizon = Annotated[str, typer.Option(metavar="N", help="Rounds in a run.", rich_help_panel=EFFORT)]
Runs = Annotated[
    str, typer.Option(metavar="N", help="Runs of each policy.", rich_help_panel=EFFORT)
]
Seed = Annotated[str, typer.Option(metavar="N", help="Of all noise.", rich_help_panel=EFFORT)]
Checkpoints = Annotated[
    str,
    typer.Option(
        metavar="N|LIST",
        help="How many rounds to read regret after for --csv and --plot, or which.",
        rich_help_panel=EFFORT,
    ),
]
Threads = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="At most this many; changes no number.",
        show_default="all cores",
        rich_help_panel=EFFORT,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on the Dask cluster of this scheduler, such as tcp://127.0.0.1:8786; changes no "
        "number.",
        show_default="this machine",
        rich_help_panel=EFFORT,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="auto, every-round, thinned (fewer samples), events (sums of rewards too, for long "
        "horizons), processes (without Numba) or interpreted (without Numba, on one core).",
        autocompletion=_among("driftanchor.simulation.engines", "ENGINE_NAMES"),
        rich_help_panel=EFFORT,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the regret of every policy, run and checkpoint.",
        rich_help_panel=OUTPUT,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw mean regret over the rounds: .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="JSON for programs.", rich_help_panel=OUTPUT)]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No messages, no progress bar; errors stay.", rich_help_panel=OUTPUT
    ),
]
