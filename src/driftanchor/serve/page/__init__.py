"""The page of `driftanchor serve`: what its views show, as JSON, and the files that show it."""
