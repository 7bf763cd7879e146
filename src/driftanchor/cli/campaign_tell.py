"""`driftanchor campaign tell` and `driftanchor campaign correct`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.cli import store_options as at
from driftanchor.cli.reward_lines import RewardLine, lines_of, tell_lines
from driftanchor.errors import InvalidInput
from driftanchor.render.numbers import count

if TYPE_CHECKING:
    from driftanchor.live.campaigns.decision import Receipt

MOST_SHOWN = 20  # refused lines that are shown to people; --json has all of them

OneDecision = Annotated[
    str | None, typer.Argument(metavar="[DECISION]", help="The id that 'campaign ask' gave.")
]
Reward = Annotated[
    str | None, typer.Argument(metavar="[REWARD]", help="Its reward, such as 1 or 0.")
]
File = Annotated[
    str | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="A file with lines of decision,reward; - for stdin. Each line is recorded on its own.",
    ),
]


AllowOutside = Annotated[
    bool,
    typer.Option(
        "--allow-outside", help="Accept rewards far outside the range of the logged rewards."
    ),
]
From = Annotated[str, typer.Option("--from", metavar="X", help="The reward currently recorded.")]
To = Annotated[str, typer.Option("--to", metavar="X", help="The right reward.")]
Reason = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The reason, recorded in the history.")
]


def tell(
    name: at.Name,
    decision: OneDecision = None,
    reward: Reward = None,
    *,
    file: File = None,
    allow_outside: AllowOutside = False,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Report the reward of one or many decisions. Rewards are on disk when the command returns.

    Reporting the same reward twice is harmless, so retry if unsure. A different reward for
    the same decision is refused (exit code 4) and the first is kept. With --file, valid lines
    are recorded even if others are refused; then the exit code is 1.

    Examples:
      driftanchor campaign tell checkout DECISION 1
      driftanchor campaign tell checkout --file rewards.csv
      cat rewards.csv | driftanchor campaign tell checkout --file - --json
    """
    if file is None:
        if decision is None or reward is None:
            raise InvalidInput("give a decision and its reward, or a --file of them")
        value = parse.number(reward, "the reward")
        with at.campaign_in(store, name) as campaign:
            receipt = campaign.tell(decision, value, allow_outside=allow_outside)
        _show_one(receipt, as_json, quiet)
        return
    if decision is not None:
        raise InvalidInput("give either --file or a decision, not both")
    with at.campaign_in(store, name) as campaign, lines_of(file) as lines:
        done = tell_lines(campaign, lines, allow_outside=allow_outside)
    _show(done, as_json, quiet)


def correct(
    name: at.Name,
    decision: at.DecisionId,
    *,
    before: From,
    after: To,
    reason: Reason = None,
    allow_outside: AllowOutside = False,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Correct a reported reward, for example after a refund.

    If the recorded reward is not --from, nothing changes and the exit code is 4. Repeating a
    correction is harmless.

    Examples:
      driftanchor campaign correct checkout DECISION --from 30 --to 0 --reason refund
    """
    old, new = parse.number(before, "--from"), parse.number(after, "--to")
    with at.campaign_in(store, name) as campaign:
        receipt = campaign.correct(
            decision, new, before=old, reason=reason, allow_outside=allow_outside
        )
    _show_one(receipt, as_json, quiet)


def _show_one(receipt: Receipt, as_json: bool, quiet: bool) -> None:
    counts = "nothing" if receipt.reward is None else f"{receipt.reward:g}"
    message = f"{receipt.status}: {counts} counts for arm {receipt.arm!r}"
    output.report(message, receipt.to_json(), as_json=as_json, quiet=quiet)


def _show(done: list[RewardLine], as_json: bool, quiet: bool) -> None:
    counts = Counter(line.status for line in done)
    refused = [line for line in done if line.error is not None]
    if as_json:
        output.show_json({"counts": dict(counts), "results": [line.to_json() for line in done]})
    else:
        for line in refused[:MOST_SHOWN]:
            output.show_text(f"line {line.number}: {line.error}")
        if len(refused) > MOST_SHOWN:
            output.show_text(f"and {len(refused) - MOST_SHOWN:,} more; --json has all of them")
        each = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.items()))
        output.say(f"{count(len(done), 'line')}: {each or 'nothing to tell'}", quiet=quiet)
    if refused:
        output.say(f"error: {len(refused):,} of {count(len(done), 'line')} refused")
        raise typer.Exit(1)
