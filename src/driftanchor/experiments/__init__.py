"""Experiments as data: files that say what to run, runs, claims, figures and the report."""
