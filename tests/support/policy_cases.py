"""Parameters that lead to other branches of a policy; each is tried beside the defaults."""

from __future__ import annotations

from typing import Any

from driftanchor import POLICIES, Policy

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "anchor-ts": [{"posterior_scale": 2.0}],
    "min-ucb": [{"radius": "cheung-lyu"}],
    "epsilon-ts": [{"epsilon": 0.3}, {"epsilon": 0.0}],
    "kl-ucb": [{"reward": "gaussian", "c": 3.0}],
    "moss": [{"horizon": 60}],
    "ada-ucb": [{"horizon": 60}],
    "mots": [{"horizon": 60}],
    "artificial-replay": [{"base": "ts"}],
    "guarded-anchor-ts": [
        {"budget": 0.0, "eps": 0.0},
        {"budget": 8.0, "eps": 0.4},
        {"clip": 0.0, "eps": 1.0},
    ],
}


def variants_of(name: str, **common: float) -> list[Policy]:
    """A policy as it is by itself, and in its variants, all with these parameters too."""
    return [POLICIES[name](**parameters, **common) for parameters in [{}, *VARIANTS.get(name, [])]]
