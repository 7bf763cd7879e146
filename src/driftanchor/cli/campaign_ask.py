"""`driftanchor campaign ask` and `expose`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.cli import store_options as at
from driftanchor.cli.campaign_command import Done, on_campaign
from driftanchor.render.numbers import MISSING
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign
    from driftanchor.live.campaigns.decision import Decision

Unit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="Who the decision is for. A unit that asks again gets the same decision.",
        show_default="a new decision each time",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="ARM", help="An arm not to play this time; repeat for several."),
]
Number = Annotated[
    str | None,
    typer.Option(
        "--number", "-n", metavar="N", help="How many decisions to make; not with --unit."
    ),
]
Peek = Annotated[bool, typer.Option("--peek", help="Show what would be decided; record nothing.")]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="A key for this request: sent again with the same key, it gets the same decisions.",
    ),
]


def ask(
    name: at.Name,
    *,
    unit: Unit = None,
    exclude: Exclude = None,
    number: Number = None,
    peek: Peek = False,
    key: Key = None,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
) -> None:
    """Ask which arm to play. The decision is on disk when the command returns.

    Examples:
      driftanchor campaign ask checkout --unit user-1
      driftanchor campaign ask checkout --exclude A -n 3 --json
      driftanchor campaign ask checkout --peek
    """
    n: Any = None if number is None else parse.number(number, "--number")
    with at.campaign_in(store, name) as campaign:
        answer = campaign.ask(unit, exclude=exclude or (), n=n, peek=peek, key=key)
    found: list[Decision] = answer if isinstance(answer, list) else [answer]
    if not as_json:
        output.show_table(_table(found))
    elif number is None:
        output.show_json(found[0].to_json())
    else:
        output.show_json({"decisions": [decision.to_json() for decision in found]})


@on_campaign
def expose(campaign: "Campaign", decision: at.DecisionId) -> Done:
    """Report that a decision was shown. With --exposure report, it becomes pending only then.

    Examples:
      driftanchor campaign expose checkout DECISION
    """
    receipt = campaign.expose(decision)
    return Done(f"{receipt.status}: {receipt.arm} was shown", receipt.to_json())


def _table(found: "Sequence[Decision]") -> Table:
    rows = [
        (x.arm, f"{x.propensity:.4g}", x.id or MISSING, "replayed" if x.replayed else x.note)
        for x in found
    ]
    return Table("", ("arm", "propensity", "id", ""), tuple(rows), text=frozenset({0, 2, 3}))
