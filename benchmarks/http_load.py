"""Load on a server: clients that send their requests one after the other, each on a connection.

The standard library alone, and as little of it as will do: the clients share the processor with the
server that is measured.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

END = b"\r\n\r\n"
LENGTH = b"content-length: "


@dataclass(frozen=True)
class Load:
    """What came of some requests.

    Attributes:
        rate: Requests in a second.
        seconds: How long each took, sorted.
        bodies: What was answered.
    """

    rate: float
    seconds: list[float]
    bodies: list[bytes]

    def quantile(self, part: float) -> float:
        """How long no more than this part of the requests took, in seconds."""
        return self.seconds[min(len(self.seconds) - 1, int(part * len(self.seconds)))]


class _Connection(asyncio.Protocol):
    """One connection, which has one request under way."""

    def __init__(self) -> None:
        self._come = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._come += data
        head, found, body = self._come.partition(END)
        if not found:
            return
        at = head.lower().find(LENGTH)
        length = int(head[at + len(LENGTH) :].partition(b"\r")[0]) if at >= 0 else 0
        if len(body) >= length and self._answer is not None:
            self._come = b""
            self._answer.set_result((int(head[9:12]), body))

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionError("the server hung up"))

    async def send(self, request: bytes) -> tuple[int, bytes]:
        assert self.transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._answer


def request(method: str, path: str, body: dict[str, Any]) -> bytes:
    """A request as it is sent."""
    text = json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"content-length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


def load(port: int, clients: int, requests: Iterable[bytes]) -> Load:
    """Send requests to a server of this machine; each must be answered well."""
    return asyncio.run(_load(port, clients, iter(requests)))


async def _load(port: int, clients: int, requests: Iterator[bytes]) -> Load:
    seconds: list[float] = []
    bodies: list[bytes] = []

    async def one() -> None:
        loop = asyncio.get_running_loop()
        transport, connection = await loop.create_connection(_Connection, "127.0.0.1", port)
        for sent in requests:
            sent = sent.replace(b"localhost", b"localhost:%d" % port, 1)
            start = time.perf_counter()
            status, body = await connection.send(sent)
            seconds.append(time.perf_counter() - start)
            if status not in (200, 201):
                raise RuntimeError(f"the server answered {status}: {body!r}")
            bodies.append(body)
        transport.close()

    start = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    rate = len(seconds) / (time.perf_counter() - start)
    return Load(rate, sorted(seconds), bodies)
