"""Addresses of empty stores, one for each test."""

from __future__ import annotations

import itertools
from urllib.parse import quote

import psycopg

_numbers = itertools.count()


def postgres_address(folder: str) -> str:
    """The address of a new schema in the PostgreSQL whose socket is in a folder."""
    schema = f"store_{next(_numbers)}"
    with psycopg.connect(host=folder, user="postgres", dbname="postgres") as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {schema}")
    options = quote(f"-csearch_path={schema}")
    return f"postgresql://postgres@/postgres?host={quote(folder)}&options={options}"
