"""Problems of a server become the errors of `Campaign`."""

from __future__ import annotations

import json

import pytest

from driftanchor import errors
from driftanchor.client.problems import error_of_answer


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "invalid_json", errors.InvalidInput),
        (401, "no_key", errors.InvalidInput),
        (403, "role", errors.InvalidInput),
        (404, "not_found", errors.NotFound),
        (409, "campaign_paused", errors.CampaignPaused),
        (409, "default_played", errors.DefaultPlayed),
        (422, "idempotency_key_reused", errors.KeyReused),
        (409, "reward_conflict", errors.OtherReward),
        (409, "conflict", errors.Conflict),
        (413, "too_large", errors.InvalidInput),
        (422, "invalid", errors.InvalidInput),
        (429, "rate", errors.StoreUnavailable),
        (500, "internal", errors.DriftanchorError),
        (503, "store_unavailable", errors.StoreUnavailable),
    ],
)
def test_each_problem_has_its_error(
    status: int, code: str, kind: type[errors.DriftanchorError]
) -> None:
    body = json.dumps({"status": status, "code": code, "detail": "what is wrong"}).encode()
    found = error_of_answer(status, body)
    assert type(found) is kind
    assert "what is wrong" in str(found)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'{"detail": 3}', b'{"detail": "no"}', b"[" * 100_000]
)
@pytest.mark.parametrize("status", [401, 404, 409, 500])
def test_what_is_no_problem_of_ours_means_that_the_server_is_away(body: bytes, status: int) -> None:
    found = error_of_answer(status, body)
    assert type(found) is errors.StoreUnavailable
    assert f"the answer {status} is not from driftanchor" in str(found)


def test_a_missing_key_is_not_a_wrong_one() -> None:
    found = error_of_answer(401, b'{"code": "key_missing", "detail": "send a key"}')
    assert type(found) is errors.InvalidInput
    assert str(found) == "the server needs a key: da.Client(url, key=\N{HORIZONTAL ELLIPSIS})"
    wrong = error_of_answer(401, b'{"code": "key_refused", "detail": "this key is unknown"}')
    assert str(wrong) == "key is not accepted by the server: this key is unknown"


def test_a_refused_key_is_named() -> None:
    found = error_of_answer(403, b'{"code": "role_missing", "detail": "it lacks the role decide"}')
    assert str(found) == "key is not accepted by the server: it lacks the role decide"
