"""Create a campaign, or find an existing one."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from driftanchor.core import record
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import valid_range
from driftanchor.errors import Conflict, InvalidInput, NotFound, UnreadableState, shown
from driftanchor.live import records
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.stores.rows import CampaignRow, new_arms
from driftanchor.live.stores.store import Store
from driftanchor.live.terms import Terms
from driftanchor.policies import POLICIES
from driftanchor.policies.base import Policy

BINARY = (
    "rewards are 0 or 1, because all logged rewards are; for other rewards create the campaign "
    "with reward 'number'"
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def valid_name(name: object) -> str:
    """Validate the name of a campaign: safe in addresses, files and commands."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise InvalidInput(
            f"must start with a letter or a digit and have at most 128 letters, digits and . _ : - "
            f"(got {shown(name)})",
            argument="name",
        )
    return name


def insert_campaign(
    store: Store, name: str, terms: Terms, settings: Settings, at: float
) -> CampaignRow:
    """Insert a campaign; raise `Conflict` if the name is taken."""
    body = records.terms_fields(terms)
    row = CampaignRow(0, name, at, record.seal_with_digest("campaign", 1, body), settings.to_json())
    return store.create(row, new_arms(terms.arms, terms.policy.memory))


def check_live(policy: Policy) -> None:
    """Refuse a policy that is not made for live use."""
    if policy.not_live is not None:
        raise InvalidInput(
            f"{policy.name!r} is not made for campaigns: {policy.not_live}; leave it out for the "
            "default rule, or use another such as 'anchor-ts'",
            argument="policy",
        )


def find_campaign(store: Store, name: str) -> CampaignRow:
    """Return the campaign of this name.

    Raises:
        NotFound: There is none; the message names others.
    """
    row = store.find(valid_name(name))
    if row is None:
        known = ", ".join(store.names()[:30])
        others = f"there are: {known}" if known else "there are none yet"
        raise NotFound(f"there is no campaign {name!r}; {others}")
    return row


def read_campaign(row: CampaignRow, policy: Policy | None = None) -> tuple[Terms, Settings]:
    """Return the initial terms and settings of a campaign.

    Args:
        row: The campaign.
        policy: The campaign's policy, if it is your own; others are found by their names.
    """
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidInput(
            f"must be a Policy such as AnchorTS(), got {shown(policy)}", argument="policy"
        )
    body = record.unseal(row.terms, "campaign", 1, ("policy", "offline", "bias_bounds", "seed"))
    try:
        with record.reading("campaign", body):
            terms = records.read_terms(body, policy)
        return terms, Settings.from_json(row.settings)
    except UnreadableState as error:
        raise UnreadableState(f"campaign {row.name!r}: {error}") from error


def custom(policy: Policy | None) -> Policy | None:
    """Return the policy; `None` if it is built in, because its name is then enough."""
    return None if type(policy) in POLICIES.values() else policy


def inferred_kind(offline: object, reward_range: object, default_reward: object) -> str:
    """Return `"binary"` if all logged rewards are 0 or 1 and no argument says otherwise."""
    open_or_unit = reward_range is None or list(valid_range(reward_range)) == [0.0, 1.0]
    binary = isinstance(offline, OfflineData) and offline.all_binary()
    return "binary" if binary and open_or_unit and default_reward in (None, 0, 1) else "number"


def range_of(kind: str, reward_range: object) -> object:
    """Return the caller's reward range, or the default for the kind of reward."""
    return (0, 1) if kind == "binary" and reward_range is None else reward_range


def check_same(
    name: str,
    first: tuple[Terms, Settings],
    now: tuple[Terms, Settings],
    wanted: tuple[Terms, Settings],
    *,
    seed: bool,
) -> None:
    """Raise an error if an existing campaign differs from the one the caller wants.

    Settings and bounds that changed since creation may have their first or their current value.

    Args:
        name: The name of the campaign.
        first: The initial terms and settings.
        now: The terms and settings in force.
        wanted: The terms and settings that the caller wants.
        seed: Whether the caller gave a seed.
    """
    changed = set(_differences(now, wanted, seed=seed))
    differ = [x for x in _differences(first, wanted, seed=seed) if x in changed]
    if differ:
        raise Conflict(
            f"there is a campaign {name!r} with another {', '.join(differ)}: choose another name, "
            "or use the campaign as it is"
        )


def _differences(
    existing: tuple[Terms, Settings], wanted: tuple[Terms, Settings], *, seed: bool
) -> list[str]:
    """Return the names of the arguments that differ; compare seeds only if one was given."""
    (old, old_settings), (new, new_settings) = existing, wanted
    differ = [
        field.name
        for field in dataclasses.fields(Settings)
        if getattr(old_settings, field.name) != getattr(new_settings, field.name)
    ]
    pairs = {
        "policy": old.policy == new.policy,
        "offline": _same_logs(old.offline, new.offline),
        "bias_bound": np.array_equal(old.bias_bounds, new.bias_bounds),
        "relative_bound": np.array_equal(old.relative_bounds, new.relative_bounds),
        "reward_range": old.reward_range == new.reward_range,
        "seed": not seed or old.seed == new.seed,
    }
    return differ + [name for name, same in pairs.items() if not same]


def _same_logs(old: OfflineData, new: OfflineData) -> bool:
    """Whether two summaries of logs have the same numbers, whatever their source."""
    numbers = ((old.n, new.n), (old.mean, new.mean), (old.variance, new.variance))
    same = all(np.array_equal(one, other, equal_nan=True) for one, other in numbers)
    return old.arms == new.arms and same
