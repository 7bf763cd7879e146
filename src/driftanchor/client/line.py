"""Line: the connections, threads and pending defaults that clients of one server share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from driftanchor.client.bounded import Bounded
from driftanchor.client.calls import Calls
from driftanchor.client.defaults import Default, Defaults
from driftanchor.client.http_connections import HttpConnections
from driftanchor.client.read_answers import list_in
from driftanchor.errors import InvalidInput

CAMPAIGNS = "/v1/campaigns"
REPORT_TIMEOUT = 2.0  # seconds
T = TypeVar("T")


class Line:
    """The shared connection to a server.

    Args:
        url: Its address.
        key: The key for it, if it needs one.
        timeout: Seconds before a call fails.

    Attributes:
        defaults: Defaults not yet reported.
    """

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        self._url, self._key, self._timeout = url, key, timeout
        self._only: str | None = None
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._connections = HttpConnections(self._url)
        self._calls = Calls(self._connections, self._key)
        self._bounded = Bounded()
        self.defaults = Defaults(self._report)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        seconds: float | None = None,
        request_key: str | None = None,
        promised: float | None = None,
    ) -> Any:
        """Call the server and return its answer; see `Calls.call`."""
        self._here()
        left = self._timeout if seconds is None else seconds
        return self._calls.call(
            method, path, body, seconds=left, request_key=request_key, promised=promised
        )

    def within(self, seconds: float, work: Callable[[], T], promised: float | None = None) -> T:
        """Return the result of `work`, or fail at the timeout; see `Bounded.run`."""
        self._here()
        answer: T = self._bounded.run(work, seconds=seconds, promised=promised)
        return answer

    def path(self, campaign: str | None) -> str:
        """Return the URL path of a campaign; `None` means the server's only campaign."""
        if campaign is None:
            campaign = self._only = self._only or self._find_only()
        return f"{CAMPAIGNS}/{quote(campaign, safe='')}"

    def close(self) -> None:
        """Try once to report pending defaults, then close the connections."""
        if self._process == os.getpid():
            self.defaults.end()
            self._connections.close()

    def _here(self) -> None:
        if self._process != os.getpid():  # forked: the connections belong to the parent
            self._start()

    def _find_only(self) -> str:
        """Return the name of the server's only campaign."""
        found = list_in(self.call("GET", CAMPAIGNS), "campaigns")
        names = [str(x.get("name")) for x in found if isinstance(x, dict)]
        if len(names) != 1:
            known = ", ".join(names[:10]) or "none"
            raise InvalidInput(
                f"is needed: the server has {len(names)} campaigns ({known})", argument="campaign"
            )
        return names[0]

    def _report(self, campaign: str | None, some: list[Default]) -> None:
        now = time.monotonic()
        items = [
            {"key": x.key, "arm": x.arm, "ago": now - x.at}
            | ({} if x.unit is None else {"unit": x.unit})
            for x in some
        ]
        body = {"defaults": items}
        self.call("POST", f"{self.path(campaign)}/defaults", body, seconds=REPORT_TIMEOUT)
