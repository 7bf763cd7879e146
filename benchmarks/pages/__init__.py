"""What the pages of `docs/` show, measured: `python -m benchmarks.pages.measure --help`."""
