"""Serve: decisions of campaigns over HTTP, and a page to watch them."""
