"""Loops that leap over the rounds in which the leader is played again: `EVENTS` and `THINNED`."""

from driftanchor.simulation.engines.leaping.loop import EVENTS, THINNED

__all__ = ["EVENTS", "THINNED"]
