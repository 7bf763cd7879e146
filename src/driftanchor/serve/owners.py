"""Owners: a cache of which campaign made which decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from driftanchor.errors import NotFound
from driftanchor.live.campaigns.batch import Request
from driftanchor.live.campaigns.decision import Decision, decision_id_text

if TYPE_CHECKING:
    from driftanchor.serve.served import Served

MOST_KNOWN = 50_000  # decisions


class Owners:
    """Finds the campaign of a decision: recent ones from a cache, others from the store.

    Args:
        find: Looks up a decision in the store.
    """

    def __init__(self, find: Callable[[str], Awaitable[str | None]]) -> None:
        self._find = find
        self._known: dict[str, str] = {}

    def note(self, campaign: str, made: Iterable[Decision]) -> None:
        """Cache the campaign of some decisions."""
        known = self._known
        for decision in made:
            known[str(decision.id)] = campaign
        while len(known) > MOST_KNOWN:
            del known[next(iter(known))]  # the oldest

    async def of(self, decision_id: str) -> str:
        """Return the campaign of a decision.

        Raises:
            InvalidInput: The text is not a valid decision id.
            NotFound: The store has no such decision.
        """
        found = self._known.get(decision_id)
        if found is None:
            found = await self._find(decision_id_text(decision_id))
        if found is None:
            raise unknown()
        return found


def unknown() -> NotFound:
    """What is said of a decision that nobody made."""
    return NotFound("there is no such decision: give the id that came with it")


async def do_for(served: Served, decision_id: str, request: Request) -> Any:
    """Do a request about a decision, in the campaign that made it."""
    owner = await served.owners.of(decision_id)
    return await served.bridge.do(await served.opened(owner), request)
