from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from driftanchor.serve.answer import WHOLE, WholeAnswer, send_answer
from driftanchor.serve.problem import MEDIA, Problem

OWN = (b"x-request-id", b"1")
ANSWER = WholeAnswer(201, b"{}", headers=((b"idempotent-replayed", b"true"),))
FIELDS = [
    (b"idempotent-replayed", b"true"),
    (b"content-length", b"2"),
    (b"content-type", b"application/json"),
]


def test_the_framework_gets_the_same_answer() -> None:
    response = ANSWER.response()
    assert (response.status_code, response.body) == (201, b"{}")
    assert response.raw_headers == FIELDS == ANSWER.fields()


def test_a_problem_is_answered_as_the_framework_would() -> None:
    problem = Problem(503, "overloaded", "wait")
    answer = WholeAnswer.of(problem)
    assert json.loads(answer.body) == problem.body()
    assert (answer.status, answer.media) == (503, MEDIA.encode())
    assert answer.fields() == problem.response().raw_headers


@pytest.mark.parametrize("can", [None, True, False])
def test_an_answer_is_sent_once(can: bool | None) -> None:
    """At once where the server can do so, and else as two messages."""
    sent: list[Any] = []

    def whole(*given: Any) -> bool:
        if can:
            sent.append(given)
        return bool(can)

    async def send(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {} if can is None else {"extensions": {WHOLE: whole}}
    asyncio.run(send_answer(ANSWER, OWN, scope, send))
    fields = [*FIELDS, OWN]
    if can:
        assert sent == [(scope, 201, fields, b"{}")]
    else:
        assert sent == [
            {"type": "http.response.start", "status": 201, "headers": fields},
            {"type": "http.response.body", "body": b"{}"},
        ]
