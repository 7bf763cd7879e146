"""Deadline: every request is answered in time, even if the store hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from driftanchor.errors import StoreUnavailable
from driftanchor.serve.problem import problem_of
from driftanchor.serve.served import Served


class Deadline:
    """Middleware that answers 503 if the app does not answer in time.

    Time spent reading the body or sending a started response does not count.

    Args:
        app: The wrapped app.
        served: Its settings contain the time limit.
    """

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self.app, self._served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with answer_within(self._served.settings.deadline) as limit:

                async def sending(message: Message) -> None:
                    limit.reschedule(None)
                    await send(message)

                await self.app(scope, receive, sending)
        except StoreUnavailable as error:
            if not limit.expired():
                raise
            self._served.log.failure(scope.get("request_id", ""), error)
            await problem_of(error).response()(scope, receive, send)


@asynccontextmanager
async def answer_within(seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """Cancel the block after some seconds.

    Raises:
        StoreUnavailable: The time limit passed.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            yield limit
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise StoreUnavailable(f"the store did not answer within {seconds:g} seconds") from error
