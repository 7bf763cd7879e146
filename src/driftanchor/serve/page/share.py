"""Share links: a key that may only read, and that ends soon.

The page puts it behind the # of a link, which browsers send to no server. So it is in no log.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import Store
from driftanchor.serve.body import Body
from driftanchor.serve.problem import Problem

LONGEST = 24 * 31  # hours


class ShareBody(Body):
    """How long a link works."""

    hours: Annotated[float, Field(gt=0, le=LONGEST)] = 24.0


def shared_key(store: Store, hours: float, now: float) -> dict[str, Any]:
    """Make the key of a link, and keep its hash.

    Args:
        store: The store, which has the keys.
        hours: How long it works.
        now: The time.

    Raises:
        Problem: The store has no keys. Its first key would end the free access on this machine.
    """
    if not store.keys():
        raise Problem(
            409,
            "no_keys",
            "this server has no keys, and its first one would lock you out: make yours with "
            "'driftanchor keys create --role admin', and type it here",
        )
    key, row = make_key(["read"], now=now, expires_at=now + 3_600.0 * hours, note="share link")
    store.add_key(row)
    return {"key": key, "expires": row.expires_at, "id": row.id}
