from __future__ import annotations

import asyncio
from typing import Any

from driftanchor.serve.corked import Corked


class Pipe:
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> str:
        return name.upper()


def corked() -> tuple[Pipe, Corked]:
    pipe: Any = Pipe()
    return pipe, Corked(pipe, asyncio.get_running_loop())


def test_what_is_written_in_one_turn_goes_out_in_one_piece() -> None:
    async def work() -> list[bytes]:
        pipe, transport = corked()
        transport.write(b"head")
        transport.write(b"body")
        assert pipe.written == []
        await asyncio.sleep(0)
        transport.write(b"more")
        await asyncio.sleep(0)
        return pipe.written

    assert asyncio.run(work()) == [b"headbody", b"more"]


def test_what_is_whole_goes_out_at_once_after_what_waits() -> None:
    async def work() -> list[bytes]:
        pipe, transport = corked()
        transport.write_now(b"first")
        transport.write(b"second")
        transport.write_now(b"third")
        assert pipe.written == [b"first", b"secondthird"]
        await asyncio.sleep(0)
        return pipe.written

    assert asyncio.run(work()) == [b"first", b"secondthird"]


def test_nothing_is_lost_when_it_is_closed() -> None:
    async def work() -> None:
        pipe, transport = corked()
        transport.write(b"last")
        transport.close()
        assert (pipe.written, pipe.closed) == ([b"last"], True)
        transport.write(b"too late")
        await asyncio.sleep(0)
        assert pipe.written == [b"last"]
        assert transport.get_extra_info("x") == "X"

    asyncio.run(work())
