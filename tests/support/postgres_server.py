"""A PostgreSQL that ends with the tests."""

import contextlib
from collections.abc import Iterator

from benchmarks.torture.postgres import running


@contextlib.contextmanager
def running_postgres() -> Iterator[str]:
    """A server with data of its own: the folder of its socket; user and database `postgres`."""
    with running() as server:
        yield str(server.folder)
