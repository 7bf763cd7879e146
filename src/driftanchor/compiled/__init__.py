"""Policies and simulation loops, compiled with Numba's public API and cached on disk."""
