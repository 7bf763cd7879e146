"""Simulated worlds, the runs of policies in them, and their results."""
