"""Share links: a key that reads the summary of one campaign, and that ends soon.

The page puts it behind the # of a link, which browsers send to no server. So it is in no log.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from driftanchor.live.campaigns.creating import find
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import Store
from driftanchor.serve.body import Body
from driftanchor.serve.problem import Problem

LONGEST = 24 * 31  # hours


class ShareBody(Body):
    """Which campaign a link shows, and how long it works."""

    campaign: str
    hours: Annotated[float, Field(gt=0, le=LONGEST)] = 24.0


def shared_key(store: Store, link: ShareBody, now: float) -> dict[str, Any]:
    """Make the key of a link, and keep its hash.

    Args:
        store: The store, which has the keys.
        link: What the link shows, and for how long.
        now: The time.

    Raises:
        NotFound: There is no such campaign.
        Problem: The store has no keys. Its first key would end the free access on this machine.
    """
    if not store.keys():
        raise Problem(
            409,
            "no_keys",
            "this server has no keys, and its first one would lock you out: make yours with "
            "'driftanchor keys create --role admin', and type it here",
        )
    campaign = find(store, link.campaign).name
    until = now + 3_600.0 * link.hours
    key, row = make_key(["read"], now=now, expires_at=until, note="share link", campaign=campaign)
    store.add_key(row)
    return {"key": key, "expires": row.expires_at, "id": row.id}
