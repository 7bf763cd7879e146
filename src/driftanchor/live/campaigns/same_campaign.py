"""Whether an open campaign is still the one in the store, whose file may have been replaced."""

from __future__ import annotations

from driftanchor.errors import Conflict, NotFound
from driftanchor.live.stores.rows import CampaignRow
from driftanchor.live.stores.store import Reader, Store


class SameCampaign:
    """Looks at the campaign in the store again whenever the file of the store was replaced.

    Args:
        store: The store.
        row: The campaign as it was found.
    """

    def __init__(self, store: Store, row: CampaignRow) -> None:
        self._store, self._row = store, row
        self._seen = store.generation()  # of the file in which the campaign was found

    def check(self, reader: Reader) -> None:
        """Refuse another campaign that has the number of this one.

        Raises:
            NotFound: The store has no campaign of this name any more.
            Conflict: It has one that was created otherwise.
        """
        now = self._store.generation()
        if now == self._seen:
            return
        name, found = self._row.name, reader.named(self._row.name)
        if found is None:
            raise NotFound(
                f"the file of the store was replaced, and the new one has no campaign {name!r}: "
                "put the old file back"
            )
        if found != self._row:
            raise Conflict(
                f"the file of the store was replaced, and campaign {name!r} in the new one is "
                "another: put the old file back, or load the campaign again to use the new one"
            )
        self._seen = now
