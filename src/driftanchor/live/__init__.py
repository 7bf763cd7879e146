"""Deciding for real: an in-process learner."""
