"""Terms, state and learners as JSON records, and the files of learners.

Version 2 records have a finite relative bound; version 1 records have none. An old driftanchor
without relative bounds must not use such logs, so it must not read version 2.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.core.check import Bools, Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.files import write_whole
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.locks import alone
from driftanchor.policies import POLICIES, make
from driftanchor.policies.base import Policy, valid_policy

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

Hashes = Mapping[Path, str]  # of a learner's files, when it last read or wrote them
PATIENCE = 10.0  # seconds to wait for others who save into the same folder

# Parameters that a policy gained later, with their values in older records.
GAINED: dict[str, dict[str, object]] = {"guarded-anchor-ts": {"guard_share": 1.0}}


def to_record(terms: Terms, state: State) -> record.Record:
    """Return a JSON-ready record of terms and state."""
    try:
        json.dumps(terms.policy.parameters(), allow_nan=False)
    except (TypeError, ValueError) as error:  # of a custom policy
        raise InvalidInput(
            f"{terms.policy.name!r} has parameters that JSON cannot hold: {error}",
            argument="policy",
        ) from error
    version = 2 if np.isfinite(terms.relative_bounds).any() else 1
    return record.seal_with_digest(
        "learner", version, {**terms_fields(terms), **state_fields(state)}
    )


def from_record(data: object, policy: Policy | None = None) -> tuple[Terms, State]:
    """Read what `to_record` wrote, without a warning.

    Args:
        data: The record.
        policy: The policy it was saved with, if it is not built in.

    Raises:
        UnreadableState: The record is damaged, of another kind, too new, or of another policy.
    """
    if policy is not None:
        valid_policy(policy)
    body = record.unseal(data, "learner", 2, FIELDS)
    if body["version"] > 1 and body.get("relative_bounds") is None:
        raise UnreadableState("the learner record lacks 'relative_bounds': the file is damaged")
    with record.reading("learner", body):
        terms = read_terms(body, policy)
        return terms, read_state(body, terms)


def terms_fields(terms: Terms) -> record.Record:
    """Return the terms as JSON-ready fields of a record."""
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
    """Read the terms from `terms_fields`; `policy` as for `from_record`."""
    relative = body.get("relative_bounds")  # the first records of version 1 lack it
    return Terms.restore(
        _policy(body["policy"], policy),
        offline=OfflineData.from_json(body["offline"]),
        bias_bounds=_decoded(body["bias_bounds"], "bias_bounds"),
        relative_bounds=None if relative is None else _decoded(relative, "relative_bounds"),
        reward_range=_decoded(body["reward_range"], "reward_range"),
        seed=body["seed"],
        reasons=_reasons(body.get("reasons", ())),  # older records lack them
    )


def state_fields(state: State) -> record.Record:
    """Return the state as JSON-ready fields of a record."""
    fields = {
        "tally": state.tally.to_json(),
        "pending": state.pending.tolist(),
        "decisions": state.decisions,
        "playable": state.playable.tolist(),
        "memory": state.memory.tolist(),
    }
    if state.live is not None:
        fields["live"] = [numbers.tolist() for numbers in state.live]
    return fields


def read_state(body: record.Record, terms: Terms) -> State:
    """Read the state from `state_fields`, under these terms."""
    tally = Tally.from_json(body["tally"])
    if tally.arms != terms.arms:
        raise UnreadableState("the tally and the offline data name different arms")
    return State(
        tally,
        check.frozen(check.pulls_per_arm(body["pending"], "pending", terms.arms)),
        _playable(body["playable"], terms),
        _memory(body["memory"], terms),
        check.whole(body["decisions"], "decisions"),
        _live(body.get("live"), terms),
    )


def _live(saved: object, terms: Terms) -> tuple[Floats, Floats] | None:
    """Read the last estimate of delayed rewards; `None` if the record has none."""
    if saved is None:
        return None
    pulls, totals = check.items(saved, "live")
    return (
        check.frozen(check.per_arm(pulls, "live", terms.arms)),
        check.frozen(check.per_arm(totals, "live", terms.arms)),
    )


def _playable(saved: object, terms: Terms) -> Bools:
    values = check.items(saved, "playable")
    if len(values) != len(terms.arms) or not all(isinstance(x, bool) for x in values):
        raise UnreadableState(
            f"playable must be true or false for each of {len(terms.arms)} arms, got "
            f"{shown(values)}"
        )
    return check.frozen(np.array(values, np.bool_))


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
    """Return the policy of a saved learner: a built-in one, or `given`."""
    if not isinstance(saved, dict) or not isinstance(saved.get("parameters"), dict):
        raise UnreadableState(f"the learner record has no usable policy: {shown(saved)}")
    name, parameters = saved.get("name"), saved["parameters"]
    known = POLICIES.get(name) if isinstance(name, str) else None
    if given is None and known is not None and saved.get("class") == known.__name__:
        return make(known.name, **_complete(parameters, known))
    if given is None:
        raise UnreadableState(
            f"saved with the policy {shown(name)} of your own: give it to load(policy=…)"
        )
    if given.name != name or record.plain(given.parameters()) != record.plain(parameters):
        raise UnreadableState(
            f"policy is {given.name!r} with {given.parameters()}, but the learner was saved with "
            f"{shown(name)} and {shown(parameters)}"
        )
    return given


def _complete(parameters: dict[str, object], policy: type[Policy]) -> dict[str, object]:
    """Return the parameters, or raise if one is missing.

    A missing parameter has no default, because that would be another policy. The exceptions are
    parameters that a policy gained later: see `GAINED`.
    """
    parameters = GAINED.get(policy.name, {}) | parameters
    for field in dataclasses.fields(policy):
        if field.name not in parameters:
            raise UnreadableState(
                f"the learner record lacks {field.name!r} of policy {policy.name!r}: the file is "
                "damaged, or of a driftanchor that had no such parameter"
            )
    return parameters


def load(
    path: str | os.PathLike[str], policy: Policy | None = None
) -> tuple[Terms, State, dict[Path, str]]:
    """Read a file that `save` wrote; return terms, state and the hash of the file.

    Raises:
        InvalidInput: There is no such file, or it is not text.
        UnreadableState: It is damaged; see `from_record`.
    """
    try:
        where = Path(path).resolve()
        content = where.read_bytes()
        text = content.decode()
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # RuntimeError: links in a ring
        raise InvalidInput(f"cannot read {_named(path)}: {error}") from error
    try:
        terms, state = from_record(record.parse(text), policy)
    except UnreadableState as error:
        raise UnreadableState(f"{_named(path)}: {error}") from error
    return terms, state, {where: _hash(content)}


def save(
    path: str | os.PathLike[str], data: record.Record, hashes: Hashes, *, overwrite: bool = False
) -> dict[Path, str]:
    """Write a record to a JSON file, atomically.

    Args:
        path: The file.
        data: The record.
        hashes: The hashes of the learner's files when it last read or wrote them.
        overwrite: Whether to overwrite a file that has another hash.

    Returns:
        The hashes, including that of this file.

    Raises:
        InvalidInput: The file cannot be written, or has another hash.
    """
    content = (json.dumps(data, indent=1, allow_nan=False) + "\n").encode()
    try:
        where = Path(path).resolve()
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # RuntimeError: links in a ring
        raise InvalidInput(f"cannot write {_named(path)}: {error}") from error
    with alone(where.parent, PATIENCE), write_whole(path) as scratch:
        scratch.write_bytes(content)
        # Not even the same content is accepted: another process may have counted a reward of its
        # own that is like this learner's, and one of the two would be lost.
        safe = overwrite or not where.is_file() or _hash(where.read_bytes()) == hashes.get(where)
        if not safe:
            raise _would_be_lost(path, known=where in hashes)
    return {**hashes, where: _hash(content)}


def _would_be_lost(path: str | os.PathLike[str], *, known: bool) -> InvalidInput:
    what = (
        "has changed since this learner was loaded from it or saved to it"
        if known
        else "is there already, and this learner was not loaded from it"
    )
    return InvalidInput(
        f"{_named(path)} {what}: to write over it would lose what it holds. Let one process alone "
        "load and save a file; load it again, save elsewhere, or use save(…, overwrite=True)",
        argument="path",
    )


def _named(path: object) -> str:
    """Format a path for messages, even if it is not a path."""
    return repr(str(path)) if isinstance(path, str | os.PathLike) else shown(path)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
