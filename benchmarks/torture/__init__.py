"""Hostile input, made up from a seed: nothing may be believed silently, nothing may crash."""
