"""`driftanchor campaign explain`, `export` and `verify`: what is on record."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs
from driftanchor.cli import store_options as at
from driftanchor.cli.campaign_command import Done, on_campaign
from driftanchor.render.numbers import count

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign

To = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Where to write: .csv, .jsonl or .parquet."),
]
What = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="decisions: a row for each decision, with its propensity and reward. events: a row "
        "for each event, in order.",
    ),
]


def explain(
    name: at.Name,
    decision: at.DecisionId,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
) -> None:
    """Say why a decision chose its arm, computed again from what was known then.

    Examples:
      driftanchor campaign explain checkout DECISION
    """
    with at.campaign_in(store, name) as campaign:
        found = campaign.explain(decision)
    if as_json:
        output.show_json(found.to_json())
        return
    for line in found.sentences():
        output.show_text(line)
    if found.arms:
        output.show_table(found.table())


@on_campaign
def export(
    campaign: "Campaign", file: To, what: What = "decisions", raw_csv: opt.RawCsv = False
) -> Done:
    """Write decisions with their propensities and rewards, or all events, to a file.

    Examples:
      driftanchor campaign export checkout decisions.parquet
      driftanchor campaign export checkout events.jsonl --what events
    """
    from driftanchor.live.campaigns.exporting import ENDINGS

    (target,) = outputs.destinations(outputs.Wanted("FILE", file, ENDINGS))
    assert target is not None
    rows = campaign.export(target, what=what, escape_formulas=not raw_csv)
    data = {"name": campaign.name, "file": str(target), "what": what, "rows": rows}
    return Done(f"wrote {target} ({count(rows, 'row')})", data)


@on_campaign
def verify(campaign: "Campaign") -> Done:
    """Add up all events again and compare with the stored sums; a difference is exit code 1.

    Examples:
      driftanchor campaign verify checkout
    """
    found = campaign.verify()
    counts = {"events": found.events, "decisions": found.decisions, "rewards": found.rewards}
    each = ", ".join(count(number, word.rstrip("s")) for word, number in counts.items())
    return Done(
        f"{campaign.name}: {each}; the stored sums agree", {"name": campaign.name, **counts}
    )
