"""The loops compiled for a policy with Numba, and kept on disk."""
