"""The policies, one per file, and their names on the command line and in experiment files."""

from __future__ import annotations

import dataclasses
from typing import Any

from driftanchor.core import check
from driftanchor.errors import DriftanchorError, InvalidInput, UnknownName, shown
from driftanchor.policies import outside
from driftanchor.policies.ada_ucb import AdaUCB
from driftanchor.policies.anchor_ts import AnchorTS
from driftanchor.policies.artificial_replay import ArtificialReplay
from driftanchor.policies.base import Policy
from driftanchor.policies.beta_ts import BetaTS
from driftanchor.policies.epsilon_ts import EpsilonTS
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS
from driftanchor.policies.hierarchical_ts import HierarchicalTS
from driftanchor.policies.hybrid_ts import HybridTS
from driftanchor.policies.hybrid_ucb import HybridUCB
from driftanchor.policies.kl_ucb import KLUCB
from driftanchor.policies.min_ucb import MinUCB
from driftanchor.policies.moss import MOSS
from driftanchor.policies.mots import MOTS
from driftanchor.policies.optimistic_ts import OptimisticTS
from driftanchor.policies.sam_ts import SamTS
from driftanchor.policies.ts import TS
from driftanchor.policies.ucb import UCB

__all__ = [
    "KLUCB",
    "MOSS",
    "MOTS",
    "POLICIES",
    "TS",
    "UCB",
    "AdaUCB",
    "AnchorTS",
    "ArtificialReplay",
    "BetaTS",
    "EpsilonTS",
    "GuardedAnchorTS",
    "HierarchicalTS",
    "HybridTS",
    "HybridUCB",
    "MinUCB",
    "OptimisticTS",
    "Policy",
    "SamTS",
]

POLICIES: dict[str, type[Policy]] = {
    "anchor-ts": AnchorTS,
    "ts": TS,
    "ucb": UCB,
    "hybrid-ts": HybridTS,
    "hybrid-ucb": HybridUCB,
    "min-ucb": MinUCB,
    "optimistic-ts": OptimisticTS,
    "epsilon-ts": EpsilonTS,
    "beta-ts": BetaTS,
    "kl-ucb": KLUCB,
    "moss": MOSS,
    "ada-ucb": AdaUCB,
    "mots": MOTS,
    "artificial-replay": ArtificialReplay,
    "hierarchical-ts": HierarchicalTS,
    "sam-ts": SamTS,
    "guarded-anchor-ts": GuardedAnchorTS,
}


def make(name: str, /, **parameters: Any) -> Policy:
    """Make a policy from its name.

    Args:
        name: The name of a built-in policy, the name of a policy from an installed package, or the
            address of your own class: `module:Class` or `folder/file.py:Class`. In the last two
            cases the package, module or file is imported, which runs its code.
        parameters: Parameters that differ from the defaults.

    Example:
        >>> make("min-ucb", radius="cheung-lyu")
        MinUCB(prior_mean=0.0, noise=1.0, c=2.0, radius='cheung-lyu')
    """
    cls = _class(name)
    known = [field.name for field in dataclasses.fields(cls)]
    for parameter in parameters:
        if parameter not in known:
            raise UnknownName(f"parameter of policy {name!r}", parameter, known)
    try:
        return cls(**parameters)
    except DriftanchorError:
        raise
    except Exception as error:  # raised by a user's own class
        why = f"{type(error).__name__}: {error}"
        raise InvalidInput(f"{name!r} cannot be made: {why}", argument="policy") from error


def _class(name: object) -> type[Policy]:
    """Return the policy class with this name; built-in names take precedence."""
    if not isinstance(name, str) or name in POLICIES:
        return POLICIES[check.choice(name, "policy", list(POLICIES))]
    if outside.is_address(name):
        return outside.imported(name)
    installed = outside.installed()
    return outside.offered(installed[check.choice(name, "policy", [*POLICIES, *installed])])


def by_name(policies: object) -> dict[str, Policy]:
    """Return a dict that maps the names used in reports to policies.

    `policies` is a mapping, one policy, or a list of policies and names.
    """
    if isinstance(policies, Policy | str):
        policies = [policies]
    if isinstance(policies, dict):
        pairs = list(policies.items())
    elif isinstance(policies, list | tuple):
        made = [make(item) if isinstance(item, str) else item for item in policies]
        pairs = [(getattr(policy, "name", policy), policy) for policy in made]
    else:
        raise InvalidInput(
            f"must map names to policies, got {shown(policies)}", argument="policies"
        )
    if not pairs:
        raise InvalidInput("is empty: name at least one policy", argument="policies")
    named: dict[str, Policy] = {}
    for name, policy in pairs:
        if not isinstance(policy, Policy):
            raise InvalidInput(
                f"{shown(name)} must be a Policy such as AnchorTS(), got {shown(policy)}",
                argument="policy",
            )
        if not isinstance(name, str) or not name:
            raise InvalidInput(f"a policy's name must be text, got {shown(name)}")
        if name in named:
            raise InvalidInput(
                f"{name!r} is given twice: use a mapping with two names", argument="policy"
            )
        named[name] = policy
    return named
