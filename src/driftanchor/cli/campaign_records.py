"""`driftanchor campaign explain`, `export` and `verify`: what is on record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs
from driftanchor.cli import store_options as at
from driftanchor.render.numbers import count
from driftanchor.render.printable import printable

To = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Where to write: .csv, .jsonl or .parquet."),
]
What = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="decisions: a row for each, with its propensity and its reward. events: a row for "
        "everything that happened, in order.",
    ),
]


def explain(
    name: at.Name,
    decision: at.DecisionId,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
) -> None:
    """Why a decision went where it went, computed again from what was known then.

    Examples:
      driftanchor campaign explain checkout DECISION
    """
    with at.campaign_in(store, name) as campaign:
        found = campaign.explain(decision)
    if as_json:
        output.show_json(found.to_json())
    else:
        for line in str(found).split("\n"):
            output.show_line(printable(line))


def export(
    name: at.Name,
    file: To,
    *,
    what: What = "decisions",
    raw_csv: opt.RawCsv = False,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Write decisions with their propensities and rewards, or all events, to a file.

    Examples:
      driftanchor campaign export checkout decisions.parquet
      driftanchor campaign export checkout events.jsonl --what events
    """
    from driftanchor.live.campaigns.exporting import ENDINGS

    (target,) = outputs.destinations(outputs.Wanted("FILE", file, ENDINGS))
    assert target is not None
    with at.campaign_in(store, name) as campaign:
        rows = campaign.export(target, what=what, escape_formulas=not raw_csv)
    if as_json:
        output.show_json({"name": name, "file": str(target), "what": what, "rows": rows})
    output.say(f"wrote {target} ({count(rows, 'row')})", quiet=quiet)


def verify(
    name: at.Name,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Fold all events again and compare with the stored sums; a difference is exit code 1.

    Examples:
      driftanchor campaign verify checkout
    """
    with at.campaign_in(store, name) as campaign:
        found = campaign.verify()
    counts = {"events": found.events, "decisions": found.decisions, "rewards": found.rewards}
    if as_json:
        output.show_json({"name": name, **counts})
    else:
        words = ", ".join(count(number, word.rstrip("s")) for word, number in counts.items())
        output.say(f"{name}: {words}; all of it fits", quiet=quiet)
