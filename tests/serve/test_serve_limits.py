"""Bodies that are too large or too deep, in front of an app that echoes them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from driftanchor.serve.limits import DEEPEST, MOST_BYTES, Limits, check_depth
from driftanchor.serve.problem import Problem

SENT = Sequence[bytes | None]  # chunks of a body; `None` if the client goes


def asked(
    chunks: SENT, headers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[int, Any, dict[bytes, bytes], int]:
    """Send a body in chunks: status, what came through or the code, headers, chunks read."""
    left, answer, read = list(chunks), [], 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        chunk = left.pop(0)
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    async def send(message: Any) -> None:
        answer.append(message)

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        body = b"" if not chunks else (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        text = json.dumps({"code": body.decode()})
        await send({"type": "http.response.body", "body": text.encode()})

    given = [(b"host", b"a"), *headers]
    scope = {"type": "http", "http_version": "1.1", "path": "/", "headers": given}
    asyncio.run(Limits(echo)(scope, receive, send))
    if not answer:
        return 0, None, {}, read
    body = json.loads(answer[1]["body"])
    return answer[0]["status"], body["code"], dict(answer[0]["headers"]), read


def length(size: int) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", b"%d" % size)]


CHUNKED = [(b"transfer-encoding", b"chunked")]


def test_a_body_comes_through_whole() -> None:
    assert asked([b'{"a":1}'], length(7))[:2] == (200, '{"a":1}')
    assert asked([b'{"a"', b":1", b"}"], CHUNKED)[:2] == (200, '{"a":1}')
    most = b"1" * MOST_BYTES
    assert asked([most], length(len(most)))[:2] == (200, most.decode())
    assert asked([])[:2] == (200, "")
    assert asked([], length(0))[:2] == (200, "")


PART = b"1" * 40_000
EXPECTED = [(b"expect", b"100-continue")]


@pytest.mark.parametrize(
    ("chunks", "headers", "parts_read"),
    [
        ([PART, PART, b"1"], length(80_001), 3),  # few clients hear us before they end
        ([PART, PART, b"1"], CHUNKED, 3),
        ([PART, PART, b"1"], length(7), 3),  # it lies
        ([PART, PART, b"1"], [(b"content-length", b"x")], 3),
        ([b"1" * (MOST_BYTES + 1)], CHUNKED, 1),
        ([PART] * 100, CHUNKED, 27),
        ([PART] * 100, length(4_000_000), 0),
        ([PART] * 100, [(b"content-length", b"9" * 30)], 0),
        ([PART, PART, b"1"], length(80_001) + EXPECTED, 0),
        ([PART, PART, b"1"], CHUNKED + EXPECTED, 2),
        ([PART, PART, None], CHUNKED, 3),
    ],
)
def test_a_body_that_is_too_large(
    chunks: SENT, headers: list[tuple[bytes, bytes]], parts_read: int
) -> None:
    status, code, sent, read = asked(chunks, headers)
    assert (status, code, read) == (413, "body_too_large", parts_read)
    assert sent[b"connection"] == b"close"


@pytest.mark.parametrize("chunks", [[None], [b"1", None]])
def test_a_client_that_goes_is_not_answered(chunks: SENT) -> None:
    assert asked(chunks, length(2))[0] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"[" * DEEPEST + b"]" * DEEPEST,
        b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST,
        b"[" + b"[1]," * 1_000 + b"1]",
        b'["' + b"[{" * 1_000 + b'"]',
        b'["\\"' + b"[" * 100 + b'"]',
        b'["\\\\",' + b"[]," * 100 + b"1]",
        b'"' + b"\\" * 60_000,
    ],
)
def test_what_is_not_too_deep(body: bytes) -> None:
    check_depth(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 10**5,
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
        b'{"a":[' * 17 + b"1" + b"]}" * 17,
        b'["]]]]",' * 33 + b"1",
        b'["\\\\",' * 33 + b"1",
        b'["\\"]",' * 33 + b"1",
    ],
)
def test_what_is_too_deep(body: bytes) -> None:
    with pytest.raises(Problem) as caught:
        check_depth(body)
    assert (caught.value.status, caught.value.code) == (400, "too_deep")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_other_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(Problem, match="not JSON in UTF-8"):
        check_depth(json.dumps(["[" * 100]).encode(encoding))


def test_brackets_in_texts_are_found_in_one_pass() -> None:
    r"""A text that never ends, full of \" where one could begin: 10^9 steps if it is tried."""
    check_depth(b"[" * DEEPEST + b'"' + b'\\"[' * 20_000)
