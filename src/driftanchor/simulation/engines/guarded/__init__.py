"""Guarded Anchor-TS, leaping over rounds in which the leader plays and no guard pull is due."""

from driftanchor.simulation.engines.guarded.leaps import GUARDED_EVENTS, GUARDED_THINNED

__all__ = ["GUARDED_EVENTS", "GUARDED_THINNED"]
