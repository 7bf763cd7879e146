"""How fast this package is, measured beside others: `make bench`."""
