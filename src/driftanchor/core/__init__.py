"""Arms, tallies, offline data, evidence, posteriors and keyed noise: NumPy only, no I/O."""
