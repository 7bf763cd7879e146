"""Hostile input, much of it: what must never be silent, crash or hang."""
