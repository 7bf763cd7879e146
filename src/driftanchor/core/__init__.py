"""Arms, tallies, offline data, evidence, posteriors, statistics and keyed noise. No I/O."""
