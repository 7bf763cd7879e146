"""Keys of a server: their form, their hash, and what they allow."""

from __future__ import annotations

import hashlib
import hmac
import re

import pytest

from driftanchor import InvalidInput
from driftanchor.live.stores import access_keys
from driftanchor.live.stores.access_keys import KeyRow, id_of, is_same, make_key


def test_a_key_says_its_roles_and_is_random() -> None:
    made = [make_key(["reward", "decide", "decide"], now=5.0) for _ in range(2)]
    for key, row in made:
        assert re.fullmatch("da_decide_reward_[0-9a-f]{48}", key)
        assert (row.roles, row.created_at, row.expires_at, row.note) == (
            "decide reward",
            5.0,
            None,
            "",
        )
        assert row.sha256 == hashlib.sha256(key.encode()).hexdigest()
        assert key.startswith(row.prefix)
        assert id_of(key) == row.id
        assert key not in repr(row)
    assert len({row.sha256 for _, row in made}) == len({row.id for _, row in made}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "da_decide_",
        "da__" + "0" * 48,
        "da_root_" + "0" * 48,
        "da_read_" + "0" * 47,
        "da_read_" + "A" * 48,
        "da_read_" + "0" * 48 + "\n",
        "da_read_" * 10**5,
        "é" * 60,
    ],
)
def test_what_is_no_key_has_no_id(text: str) -> None:
    assert id_of(text) is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"roles": []}, "role must be at least one of decide, reward, read, admin"),
        ({"roles": ["reads"]}, "did you mean 'read'"),
        ({"roles": ["read"], "expires_at": 5.0}, "expires must be in the future, got 5.0"),
        ({"roles": ["read"], "expires_at": float("nan")}, "expires must be in the future"),
        ({"roles": ["read"], "expires_at": float("inf")}, "expires must be in the future"),
        ({"roles": ["read"], "note": "a\nb"}, "note must be at most 200 printable characters"),
        ({"roles": ["read"], "note": "a" * 201}, "note must be at most 200 printable characters"),
    ],
)
def test_what_no_key_can_be_made_from(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make_key(**fields, now=5.0)  # type: ignore[arg-type]


def test_when_a_key_is_active() -> None:
    row = KeyRow("1", "2", "read", 5.0, expires_at=9.0)
    assert [row.state(now) for now in (5.0, 8.9, 9.0, 10.0)] == [
        "active",
        "active",
        "expired",
        "expired",
    ]
    assert KeyRow("1", "2", "read", 5.0).state(1e12) == "active"
    assert KeyRow("1", "2", "read", 5.0, expires_at=9.0, revoked_at=6.0).state(10.0) == "revoked"


def test_what_roles_allow() -> None:
    allowed = {
        roles: [role for role in access_keys.ROLES if KeyRow("1", "2", roles, 5.0).allows(role)]
        for roles in ("decide", "decide reward", "read", "admin")
    }
    assert allowed == {
        "decide": ["decide"],
        "decide reward": ["decide", "reward"],
        "read": ["read"],
        "admin": ["decide", "reward", "read", "admin"],
    }


def test_hashes_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str]] = []
    real = hmac.compare_digest

    def watched(one: str, other: str) -> bool:
        seen.append((one, other))
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    key, row = make_key(["read"], now=5.0)
    assert is_same(access_keys.digest(key), row)
    assert not is_same(access_keys.digest(key + "0"), row)
    assert [row.sha256 in pair for pair in seen] == [True, True]


def test_a_key_for_one_campaign_only_reads() -> None:
    assert make_key(["read"], now=5.0, campaign="c")[1].campaign == "c"
    assert make_key(["read"], now=5.0)[1].campaign is None
    for roles in (["admin"], ["read", "decide"]):
        with pytest.raises(InvalidInput, match="campaign is only for keys whose only role is read"):
            make_key(roles, now=5.0, campaign="c")
