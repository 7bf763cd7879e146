"""The rewards themselves, of each arm: all of them, or an even sample where they are many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Unpack

import narwhals as nw
import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.log_options import LogOptions
from driftanchor.logs import labels, row_rules
from driftanchor.logs.frame_columns import Frame
from driftanchor.logs.query import LogQuery
from driftanchor.logs.read import open_source

MOST = 2_000_000  # rewards in memory
MOST_OF_AN_ARM = 100_000
# Multiples of the golden ratio, modulo 1, are spread evenly over any run of rows, whatever the
# order of the arms in it.
STEP, TURN = 2_654_435_769, 2**32


def sample_rewards(
    logs: object, counts: Mapping[str, int], **options: Unpack[LogOptions]
) -> dict[str, Floats] | None:
    """Rewards of events by arm; none if rows have no order to sample by, as in a database.

    Args:
        logs: Files or a frame, as for `read_logs`.
        counts: The arms wanted, and how many rewards each has. Arms of at most `MOST_OF_AN_ARM`
            rewards are taken whole, of the others the same share of the rows.
        **options: As for `read_logs`, of one row for each event.
    """
    query = LogQuery(**options)
    most = max(min(MOST_OF_AN_ARM, MOST // len(counts)), 1)
    share = min(1.0, most / max(counts.values()))
    whole = [label for label, n in counts.items() if n <= most]
    found: dict[str, list[float]] = defaultdict(list)
    with open_source(logs, query) as rows:
        for part in rows.parts():
            chosen = _chosen(part.frame, query, share, whole)
            for value, reward in zip(*_columns(chosen), strict=True):
                found[labels.label_of(value)].append(reward)
    if any(not found[label] for label in counts):
        return None
    return {label: np.array(found[label]) for label in counts}


def _chosen(frame: Frame, query: LogQuery, share: float, whole: list[str]) -> Frame:
    """The rows that are kept, can be used, and are in the sample."""
    kept = row_rules.kept(query, frame.collect_schema())
    good = row_rules.usable(query)
    frame = frame.filter(good if kept is None else kept & good)
    if share < 1.0:
        even = (nw.col("row").cast(nw.Int64) * STEP) % TURN < int(share * TURN)
        frame = frame.filter(even | nw.col("arm").cast(nw.String).is_in(whole))
    return frame.select("arm", "reward")


def _columns(frame: Frame) -> tuple[list[Any], list[float]]:
    native: Any = frame.to_native()
    if hasattr(native, "fetchnumpy"):  # a DuckDB relation: narwhals would need pyarrow
        found = native.fetchnumpy()
        return found["arm"].tolist(), found["reward"].tolist()
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.get_column("arm").to_list(), eager.get_column("reward").to_list()
