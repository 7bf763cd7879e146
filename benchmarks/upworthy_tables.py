"""Rows, intervals and sentences on the clicks that policies lost."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.retests import Pair
from benchmarks.tables import Blocks, table
from benchmarks.upworthy_play import DEFAULT, Lost
from driftanchor.core.check import Floats

RESAMPLES = 10_000


def resampled(values: Floats, seed: int) -> tuple[float, float, float]:
    """The mean over pairs with its 95 % bootstrap interval."""
    picks = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


def rows_of(lost: Lost, base: Floats, most: Floats, seed: int) -> dict[str, dict[str, Any]]:
    """What each policy lost over pairs, and less what TS lost, in clicks and as a share."""
    rows = {}
    for name, clicks in lost.items():
        share = clicks / most[:, None]
        per_pair = share.mean(axis=1)
        rows[name] = {
            "clicks": float(clicks.mean()),
            "share": float(share.mean()),
            "q95": float(np.quantile(np.broadcast_to(share, base.shape), 0.95)),
            "worst": float(per_pair.max()),
            "apart": resampled(clicks.mean(axis=1) - base.mean(axis=1), seed),
            "share_apart": resampled(per_pair - (base / most[:, None]).mean(axis=1), seed),
        }
    return rows


def line(row: Mapping[str, Any], *, is_base: bool = False) -> list[str]:
    """A row as cells."""
    apart, share = (
        f"{middle:+.{d}f} ({low:+.{d}f} to {high:+.{d}f})".replace("-", "−")
        for d, (middle, low, high) in (
            (1, row["apart"]),
            (1, tuple(100 * x for x in row["share_apart"])),
        )
    )
    return [
        f"{row['clicks']:.1f}",
        f"{100 * row['share']:.1f}",
        f"{100 * row['q95']:.0f}",
        f"{100 * row['worst']:.0f}",
        "–" if is_base else apart,
        "–" if is_base else share,
    ]


COLUMNS = (
    "clicks lost",
    "share lost, %",
    "q95, %",
    "worst pair, %",
    "clicks minus TS",
    "share minus TS, points",
)


def of_the_logs(lost: Lost, most: Floats, asked: Any) -> Blocks:
    """What logs bring beside optimistic TS, which uses none, and what W brings beside V."""

    def apart(name: str, other: str) -> str:
        share = ((lost[name] - lost[other]) / most[:, None]).mean(axis=1)
        middle, low, high = (
            f"{100 * x:+.1f}".replace("-", "−") for x in resampled(share, asked.seed)
        )
        return f"{middle} points ({low} to {high})"

    promised = [label for label in lost if ", " in label and not label.startswith("min-ucb")]
    parts = [f"{name} {apart(name, 'optimistic-ts')}" for name in promised]
    text = (
        f"Share lost minus that of optimistic TS, which uses no logs: {'; '.join(parts)}. The "
        f"default with W minus the default with V: {apart(f'{DEFAULT}, W', f'{DEFAULT}, V')}."
    )
    return {"upworthy-logs": {"kind": "text", "text": text}}


def by_order(lost: Lost, pairs: list[Pair], most: Floats) -> Blocks:
    """Where the log's best package was the best again, and where not."""
    same = np.array([pair.offline.mean.argmax() == pair.online.argmax() for pair in pairs])
    cells = {}
    for name, clicks in lost.items():
        share = 100 * clicks / most[:, None]
        cells[name] = [
            text
            for kind in (same, ~same)
            for text in (
                (f"{share[kind].mean():.1f}", f"{np.quantile(share[kind], 0.95):.0f}")
                if kind.any()
                else ("–", "–")
            )
        ]
    columns = [
        "",
        f"log's best is best again ({same.sum()} pairs): share lost, %",
        "q95, %",
        f"it is not ({(~same).sum()} pairs): share lost, %",
        "q95, %",
    ]
    return table("upworthy-order", "By whether the order held", columns, cells)
