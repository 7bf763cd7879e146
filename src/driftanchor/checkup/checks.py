"""All checks, in the order in which they are shown.

Nothing is imported before its check needs it: what cannot be imported is what they look for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from driftanchor.checkup import installation, surroundings
from driftanchor.checkup.diagnosis import Diagnosis, problem
from driftanchor.errors import MissingExtra

INSTALLATION: tuple[Callable[[], Iterator[Diagnosis]], ...] = (
    installation.python,
    installation.package,
    installation.core,
    installation.extras,
    surroundings.compiling,
    surroundings.kernels_kept,
    surroundings.settings,
)


def check_all(
    store: str | None = None, url: str | None = None, key: str | None = None
) -> list[Diagnosis]:
    """What all checks found: of the installation, and of a store and a server if they are named.

    Args:
        store: The address of a store.
        url: The address of a server.
        key: A key for that server.

    Raises:
        InvalidInput: An address or a key is none.
    """
    named: list[Diagnosis] = []  # first, as a mistake in an address should not take long
    if store is not None:
        named += _store(store)
    if url is not None:
        from driftanchor.checkup.server_checks import check_server

        named += check_server(url, key)
    return [*(each for check in INSTALLATION for each in check()), *named]


def _store(address: str) -> list[Diagnosis]:
    """The checks of a store, which need the packages of its extra."""
    try:
        from driftanchor.live.stores.store import require_sql

        require_sql(address)
        from driftanchor.checkup.store_checks import check_store

        return list(check_store(address))
    except MissingExtra as error:
        return [problem("store", "it cannot be opened", str(error))]
    except ImportError as error:
        return [problem("store", f"it cannot be opened: {error}", "see packages above")]
