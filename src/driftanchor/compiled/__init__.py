"""Functions that Numba compiles for a policy, and keeps on disk."""
