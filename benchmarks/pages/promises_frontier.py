"""The best pairs of losses that a rule can have, and where the rules are: a table and sentences."""

from benchmarks.pages import frontier, render
from benchmarks.pages.promises_worlds import DEFAULT, GRID, REVERSED, RIGHT, RULES, Cell


def pair(cells: dict[str, dict[str, Cell]], name: str) -> tuple[float, float]:
    """What a rule loses at a gap of 0.02 where the logs are right, and where they are reversed."""
    return cells[RIGHT][name]["mean"], cells[REVERSED][name]["mean"]


def table(points: list[frontier.Point], cells: dict[str, dict[str, Cell]]) -> render.Block:
    """The best pairs, and where the rules are."""
    ts = pair(cells, "TS")
    rows = [
        {
            "label": f"best rule that doubts the logs by {100 * point.doubt:g} %",
            "cells": _both((point.right, point.wrong), ts),
        }
        for point in points
    ]
    rows += [{"label": name, "cells": _both(pair(cells, name), ts)} for name in RULES]
    columns = ["rule", "logs right", "order reversed", "right, over TS", "reversed, over TS"]
    return {"kind": "table", "columns": columns, "rows": rows}


def _both(pair: tuple[float, float], ts: tuple[float, float]) -> list[str]:
    return [*(f"{x:,.0f}" for x in pair), *(f"{x / y:.2f}" for x, y in zip(pair, ts, strict=True))]


def excluded(points: list[frontier.Point], cells: dict[str, dict[str, Cell]]) -> render.Block:
    """What the frontier leaves of the two aims at a gap of 0.02."""
    right, wrong = pair(cells, "TS")
    least = frontier.least_wrong(points, 0.25 * right)
    other = frontier.least_right(points, GRID * wrong)
    text = (
        f"TS loses {right:,.0f} here. A rule that loses at most 0.25 of it where the logs are "
        f"right ({0.25 * right:,.0f}) loses at least about {least:,.0f} where they are reversed: "
        f"{least / wrong:.2f} of TS. A rule that loses at most {GRID:g} of TS where they are "
        f"reversed ({GRID * wrong:,.0f}) loses at least about {other:,.0f} where they are right: "
        f"{other / right:.2f} of TS. {_beside(points, pair(cells, DEFAULT))}"
    )
    return {"kind": "text", "text": text}


def larger_gap(points: list[frontier.Point], cells: dict[str, dict[str, Cell]]) -> render.Block:
    """The same at a gap of 0.1, where more can be had."""
    ts, *ours = (
        cells[label][name]["mean"]
        for name, label in (
            ("TS", "gap 0.1, logs right"),
            (DEFAULT, "gap 0.1, logs right"),
            (DEFAULT, "gap 0.1, order reversed"),
        )
    )
    text = f"At a gap of 0.1 σ TS loses {ts:,.0f}. {_beside(points, (ours[0], ours[1]))}"
    return {"kind": "text", "text": text}


def _beside(points: list[frontier.Point], ours: tuple[float, float]) -> str:
    """The default beside the best rule that loses as much where the logs are right."""
    best = frontier.least_wrong(points, ours[0])
    return (
        f"The default loses {ours[0]:,.0f} where logs are right and {ours[1]:,.0f} where they are "
        f"reversed; the best rule that loses {ours[0]:,.0f} where they are right loses about "
        f"{best:,.0f} where they are reversed."
    )
