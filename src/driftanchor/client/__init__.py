"""The HTTP client: `ask` and `tell` of a campaign that another process serves.

Needs only the standard library.
"""
