"""The page of `driftanchor serve`: its views as JSON, and its static files."""
