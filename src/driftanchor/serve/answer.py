"""WholeAnswer: what a busy route answers, as bytes, and how it is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fastapi import Response
from starlette.types import Scope, Send

from driftanchor.serve.problem import Problem

JSON = b"application/json"
# An extension of ASGI, in the scope of a request: a function that sends a whole answer at once, or
# says that it cannot. Two messages, which pass through every layer, take several times as long.
WHOLE = "driftanchor.whole"
Fields = Sequence[tuple[bytes, bytes]]
SendWhole = Callable[[Scope, int, Fields, bytes], bool]


class WholeAnswer(NamedTuple):
    """An answer that is complete.

    Attributes:
        status: Its status.
        body: Its body.
        media: What the body is.
        headers: Other headers, with names in small letters.
    """

    status: int
    body: bytes
    media: bytes = JSON
    headers: Fields = ()

    @classmethod
    def of(cls, problem: Problem) -> WholeAnswer:
        """The answer to what went wrong."""
        response = problem.response()
        own = (b"content-length", b"content-type")
        others = [field for field in response.raw_headers if field[0] not in own]
        return cls(
            response.status_code,
            bytes(response.body),
            response.headers["content-type"].encode(),
            others,
        )

    def fields(self) -> list[tuple[bytes, bytes]]:
        """All headers that tell what the answer is."""
        length = str(len(self.body)).encode()
        return [*self.headers, (b"content-length", length), (b"content-type", self.media)]

    def response(self) -> Response:
        """The same answer, for the framework."""
        response = Response(self.body, self.status)
        response.raw_headers = self.fields()
        return response


async def send_answer(
    answer: WholeAnswer, more: tuple[bytes, bytes], scope: Scope, send: Send
) -> None:
    """Send an answer.

    Args:
        answer: The answer.
        more: One more header.
        scope: The request.
        send: Sends messages of ASGI, for servers that have no `WHOLE`.
    """
    fields = [*answer.fields(), more]
    whole: SendWhole | None = scope.get("extensions", {}).get(WHOLE)
    if whole is not None and whole(scope, answer.status, fields, answer.body):
        return
    await send({"type": "http.response.start", "status": answer.status, "headers": fields})
    await send({"type": "http.response.body", "body": answer.body})
