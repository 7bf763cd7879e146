"""Terms and state as JSON: the fields of each, and the record of a learner, which has both.

Version 1 has no relative bound that promises anything; version 2 has one. A driftanchor that knows
no relative bounds must not use such logs without them, so it must not read version 2.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally
from driftanchor.errors import DriftanchorError, InvalidInput, UnreadableState, shown
from driftanchor.files import write_whole
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.policies import POLICIES, make
from driftanchor.policies.base import Policy

FIELDS = (
    "policy",
    "offline",
    "bias_bounds",
    "tally",
    "pending",
    "reward_range",
    "seed",
    "decisions",
    "playable",
    "memory",
)


def to_record(terms: Terms, state: State) -> record.Record:
    """A JSON-ready record of everything."""
    version = 2 if np.isfinite(terms.relative_bounds).any() else 1
    return record.seal("learner", version, {**terms_fields(terms), **state_fields(state)})


def from_record(data: object, policy: Policy | None = None) -> tuple[Terms, State]:
    """Read what `to_record` wrote, without a warning.

    Args:
        data: The record.
        policy: The policy it was saved with, if that is not one of this package.
    """
    body = record.unseal(data, "learner", 2, FIELDS)
    if body["version"] > 1 and body.get("relative_bounds") is None:
        raise UnreadableState("the learner record lacks 'relative_bounds': the file is damaged")
    terms = read_terms(body, policy)
    return terms, read_state(body, terms)


def save(path: str | os.PathLike[str], data: record.Record) -> None:
    """Write a record to a JSON file, whole or not at all."""
    text = json.dumps(data, indent=1, allow_nan=False)
    with write_whole(path) as file:
        file.write_text(text + "\n", encoding="utf-8")


def load(path: str | os.PathLike[str], policy: Policy | None = None) -> tuple[Terms, State]:
    """Read a file that `save` wrote; see `from_record`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, TypeError, ValueError) as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error}") from error
    try:
        return from_record(record.parse(text), policy)
    except DriftanchorError as error:
        raise UnreadableState(f"{str(path)!r}: {error}") from error


def terms_fields(terms: Terms) -> record.Record:
    """The terms as JSON-ready fields of a record."""
    low, high = terms.reward_range
    return {
        "policy": {
            "name": terms.policy.name,
            "class": type(terms.policy).__name__,
            "parameters": terms.policy.parameters(),
        },
        "reasons": list(terms.reasons),
        "offline": terms.offline.to_json(),
        "bias_bounds": [record.encode(x) for x in terms.bias_bounds.tolist()],
        "relative_bounds": [record.encode(x) for x in terms.relative_bounds.tolist()],
        "reward_range": [record.encode(low), record.encode(high)],
        "seed": terms.seed,
    }


def read_terms(body: record.Record, policy: Policy | None = None) -> Terms:
    """The terms from `terms_fields`; `policy` as for `from_record`."""
    relative = body.get("relative_bounds")  # the first records of version 1 lack it
    return Terms.restore(
        _policy(body["policy"], policy),
        offline=OfflineData.from_json(body["offline"]),
        bias_bounds=_decoded(body["bias_bounds"], "bias_bounds"),
        relative_bounds=None if relative is None else _decoded(relative, "relative_bounds"),
        reward_range=_decoded(body["reward_range"], "range"),
        seed=body["seed"],
        reasons=_reasons(body.get("reasons", ())),  # older records lack them
    )


def state_fields(state: State) -> record.Record:
    """The state as JSON-ready fields of a record."""
    return {
        "tally": state.tally.to_json(),
        "pending": state.pending.tolist(),
        "decisions": state.decisions,
        "playable": state.playable.tolist(),
        "memory": state.memory.tolist(),
    }


def read_state(body: record.Record, terms: Terms) -> State:
    """The state from `state_fields`, under these terms."""
    tally = Tally.from_json(body["tally"])
    if tally.arms != terms.arms:
        raise UnreadableState("the tally and the offline data name different arms")
    return State(
        tally,
        check.frozen(check.pulls_per_arm(body["pending"], "pending", terms.arms)),
        check.frozen(check.per_arm(body["playable"], "playable", terms.arms) > 0),
        _memory(body["memory"], terms),
        check.whole(body["decisions"], "decisions"),
    )


def _memory(saved: object, terms: Terms) -> Floats:
    rows = check.items(saved, "memory")
    if len(rows) != len(terms.arms):
        raise UnreadableState(f"memory has {len(rows)} rows for {len(terms.arms)} arms")
    width = terms.policy.memory
    columns = Arms.numbered(width) if width else ()
    memory = np.zeros((len(rows), width))
    memory[:] = [check.per_arm(row, "memory", columns) for row in rows]
    return check.frozen(memory)


def _reasons(saved: object) -> list[str]:
    reasons = check.items(saved, "reasons")
    if not all(isinstance(reason, str) for reason in reasons):
        raise UnreadableState(f"reasons must be texts, got {shown(reasons)}")
    return [str(reason) for reason in reasons]


def _decoded(values: object, name: str) -> list[object]:
    return [record.decode(x) for x in check.items(values, name)]


def _policy(saved: object, given: Policy | None) -> Policy:
    """The policy of a saved learner: one of this package, or the one given."""
    if not isinstance(saved, dict) or not isinstance(saved.get("parameters"), dict):
        raise UnreadableState(f"the learner record has no usable policy: {saved!r}")
    name, parameters = saved.get("name"), saved["parameters"]
    if given is not None and not isinstance(given, Policy):
        raise InvalidInput(
            f"must be a Policy such as AnchorTS(), got {shown(given)}", argument="policy"
        )
    known = POLICIES.get(name) if isinstance(name, str) else None
    if given is None and known is not None and saved.get("class") == known.__name__:
        return make(known.name, **parameters)
    if given is None:
        raise UnreadableState(
            f"saved with the policy {shown(name)} of your own: give it to load(policy=…)"
        )
    if given.name != name or given.parameters() != parameters:
        raise InvalidInput(
            f"is {given.name!r} with {given.parameters()}, but the learner was saved with "
            f"{shown(name)} and {shown(parameters)}",
            argument="policy",
        )
    return given
