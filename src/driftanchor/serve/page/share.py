"""Share links: short-lived keys that can read the summary of one campaign.

The page puts the key after the # of a link. Browsers do not send that part, so no log contains it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from driftanchor.live.campaigns.creating import find
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import Store
from driftanchor.serve.problem import Problem
from driftanchor.serve.schemas import Body

LONGEST = 24 * 31  # hours


class ShareBody(Body):
    """The campaign that a link shows, and how long the link works."""

    campaign: str
    hours: Annotated[float, Field(gt=0, le=LONGEST)] = 24.0


def shared_key(store: Store, link: ShareBody, now: float) -> dict[str, Any]:
    """Create the key of a link, and store its hash.

    Args:
        store: The store with the keys.
        link: The campaign of the link, and its lifetime.
        now: The time.

    Raises:
        NotFound: There is no such campaign.
        Problem: The store has no keys; a first key would end keyless access on this machine.
    """
    if not store.keys():
        raise Problem(
            409,
            "no_keys",
            "this server has no keys, and its first one would lock you out: create yours with "
            "'driftanchor keys create --role admin', and enter it here",
        )
    campaign = find(store, link.campaign).name
    until = now + 3_600.0 * link.hours
    key, row = make_key(["read"], now=now, expires_at=until, note="share link", campaign=campaign)
    store.add_key(row)
    return {"key": key, "expires": row.expires_at, "id": row.id}
