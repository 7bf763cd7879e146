"""`driftanchor campaign list` and `show`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import output
from driftanchor.cli import store_options as at
from driftanchor.errors import DriftanchorError
from driftanchor.render.numbers import MISSING, count, length_of_time, percent, precise
from driftanchor.render.table import Table, largest, left_out

if TYPE_CHECKING:
    from driftanchor.live.campaigns.settings import Settings
    from driftanchor.live.campaigns.status import ArmStatus, Status
    from driftanchor.live.stores.store import Store
    from driftanchor.live.terms import Terms

MOST_NAMED = 10  # arms in a line
FOUND = 10  # the exit code of a check that found what it looks for

Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Exit with code 10 if a bound is violated, if arms are not played as "
        "often as they should be, or if rewards come too late, are all equal or do not come.",
    ),
]


def list_all(*, store: at.StoreAddress = at.DEFAULT, as_json: opt.Json = False) -> None:
    """List all campaigns of a store.

    Examples:
      driftanchor campaign list
      driftanchor campaign list --store postgresql://bandit@db/bandit --json
    """
    with at.store_at(store) as opened:
        rows = [_listed(name, opened) for name in opened.names()]
    if as_json:
        output.show_json({"campaigns": rows})
        return
    fields = ("policy", "arms", "decisions", "rewards", "pending")
    lines = [
        (row["name"], *(precise(row.get(field)) for field in fields), _state(row)) for row in rows
    ]
    headings = ("campaign", *fields, "state")
    output.show_table(Table("", headings, tuple(lines), text=frozenset({0, 1, 6})))


def show(
    name: at.Name,
    *,
    check: Check = False,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
) -> None:
    """Show a campaign: its arms in the logs and live, its alarms and its settings.

    Examples:
      driftanchor campaign show checkout
      driftanchor campaign show checkout --json
      driftanchor campaign show checkout --check
    """
    with at.campaign_in(store, name) as campaign:
        status = campaign.status()
        terms = campaign.terms
    if as_json:
        output.show_json(status_json(status, terms))
    else:
        show_status(status, terms)
        for line in log.notes(terms.offline.provenance):
            output.show_text(f"logs: {line}")
    if check and status.is_alarmed:
        raise typer.Exit(FOUND)


def status_json(status: Status, terms: Terms) -> dict[str, Any]:
    """Return the status as JSON, with the number of unused log rows."""
    return {**status.to_json(), **log.row_counts(terms.offline.provenance)}


def show_status(status: Status, terms: Terms) -> None:
    """The status of a campaign for people."""
    for table in (_arms(status), _traffic(status)):
        output.show_table(table)
    for line in (*status_lines(status, terms), *status.findings()):
        output.show_text(line)


def status_lines(status: Status, terms: Terms) -> list[str]:
    """Describe the campaign in lines of text, without the table of arms."""
    counts = [
        count(status.decisions, "decision"),
        count(status.rewards, "reward"),
        f"{status.pending:,} pending",
        *([f"{status.late:,} late"] if status.late else []),
        *([f"epoch {status.epoch}"] if status.epoch else []),
        *(["paused"] if status.paused else []),
    ]
    return [
        f"{status.name}: {', '.join(counts)}",
        *(f"promised: {line}" for line in promised(terms)),
        *(f"agreed: {line}" for line in agreed(status.settings, list(status.arms))),
        *(change.text(tuple(status.arms)) for change in status.changes),
        *_live_n(status),
        *(f"policy: {reason}" for reason in status.reasons or (status.policy,)),
    ]


def _live_n(status: Status) -> list[str]:
    """Explain the column "live n" if rewards are delayed."""
    if not (status.settings.is_delayed and status.pending) or status.is_too_early:
        return []
    return [
        "live n: how many settled rewards a live mean is worth; a pending decision counts in part, "
        "by the share of rewards that should have arrived at its age"
    ]


def promised(terms: Terms) -> list[str]:
    """The bounds of the logs, in words."""
    if not terms.offline.n.any():
        return []
    words = {
        "the mean of an arm has moved since the logs by at most V": terms.bias_bounds,
        "arms have moved apart since the logs by at most W": terms.relative_bounds,
    }
    return [
        f"{text} = {_bounds(bounds.tolist(), terms)}"
        for text, bounds in words.items()
        if any(map(math.isfinite, bounds.tolist()))
    ]


def _bounds(bounds: list[float], terms: Terms) -> str:
    if len(set(bounds)) == 1:
        return f"{bounds[0]:.4g}"
    pairs = [f"{x:.4g} ({label})" for label, x in zip(terms.arms, bounds, strict=True)]
    return ", ".join(pairs[:MOST_NAMED]) + (", …" if len(pairs) > MOST_NAMED else "")


def agreed(settings: Settings, arms: list[str]) -> list[str]:
    """Describe the settings that differ from the defaults."""
    lines = ["a reward is 0 or 1"] if settings.reward == "binary" else []
    if settings.reward_window is not None:
        missing = "does not count"
        if settings.default_reward is not None:
            missing = f"counts as {settings.default_reward:g}"
        start = "shown" if settings.exposure == "report" else "made"
        late = "does not count" if settings.late == "ignore" else "still counts"
        window = length_of_time(settings.reward_window)
        lines.append(
            f"a reward may come within {window} after its decision was {start}; a decision "
            f"without a reward {missing}; a later reward {late}"
        )
    elif settings.exposure == "report":
        lines.append("a decision waits for its reward only after 'expose' says that it was shown")
    if settings.sticky == "campaign":
        lines.append("a unit always gets the same decision")
    if settings.sticky is None:
        lines.append("a unit gets a new decision each time")
    shares = {label: max(settings.floor, settings.control.get(label, 0.0)) for label in arms}
    if any(shares.values()):
        named = [f"{label} {percent(share)}" for label, share in shares.items() if share]
        kept = ", ".join(named[:MOST_NAMED]) + (", …" if len(named) > MOST_NAMED else "")
        best = max(shares.values(), default=0.0)
        away = sum(shares.values()) - best
        lines.append(
            f"smallest shares of decisions: {kept}; so at least {percent(away)} go to arms that "
            "may be worse"
        )
    return lines


def _shown(status: Status) -> list[tuple[str, ArmStatus]]:
    """The arms to show: those with the most decisions, if there are many."""
    arms = list(status.arms.items())
    return [arms[i] for i in largest([arm.decisions for _, arm in arms])]


def _arms(status: Status) -> Table:
    """Return the table of arms."""
    p_best = dict(zip(status.arms, status.outlook.p_best.tolist(), strict=True))
    rows = [
        (
            label,
            arm.state if arm.logs_count else f"{arm.state}, without logs",
            *(precise(x) for x in (arm.logs_n, arm.logs_mean, _worth(arm.live_n), arm.live_mean)),
            f"{p_best[label]:.3f}" if status.outlook.can_rank else MISSING,
        )
        for label, arm in _shown(status)
    ]
    headings = ("arm", "state", "logs n", "logs mean", "live n", "live mean", "P(best)")
    return Table("", headings, tuple(rows), text=frozenset({0, 1}))


def _worth(rewards: float) -> str:
    """Format a number of rewards, which is fractional if rewards are delayed."""
    return f"{rewards:,.{0 if rewards == int(rewards) else 1}f}"


def _traffic(status: Status) -> Table:
    """How often each arm was played, beside how often it should have been."""
    rows = [
        (label, precise(arm.decisions), f"{arm.expected:,.1f}", precise(arm.pending))
        for label, arm in _shown(status)
    ]
    note = left_out(len(rows), len(status.arms), "with the most decisions")
    headings = ("arm", "decisions", "expected decisions", "pending")
    return Table("", headings, tuple(rows), note=note)


def _listed(name: str, store: Store) -> dict[str, Any]:
    """What a list says about one campaign; one that cannot be read does not hide the others."""
    from driftanchor.live.campaigns.campaign import Campaign

    try:
        return Campaign.load(name, store=store).counts()
    except DriftanchorError as error:
        return {"name": name, "error": str(error)}


def _state(row: dict[str, Any]) -> str:
    if "error" in row:
        return str(row["error"])
    return "paused" if row["paused"] else MISSING
