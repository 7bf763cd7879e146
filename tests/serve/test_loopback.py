from __future__ import annotations

import pytest

from driftanchor import InvalidInput
from driftanchor.live.stores.access_keys import make_key
from driftanchor.serve.loopback import check_keys, is_local, reachable_from_elsewhere


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (b"localhost", True),
        (b"LOCALHOST:1", True),
        (b"shop.localhost:8484", True),
        (b"127.9.9.9:80", True),
        (b"[::1]", True),
        (b"https://[::1]:8484", True),
        (b"localhost.evil.example", False),
        (b"evil.example:8484", False),
        (b"http://evil.example#localhost", False),
        (b"http://localhost@evil.example", False),
        (b"evil.example/localhost", False),
        (b"192.168.0.7", False),
        (b"0.0.0.0", False),
        (b"null", False),
        (b"\xff", False),
    ],
)
def test_which_names_are_this_machine(place: bytes, expected: bool) -> None:
    assert is_local(place) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
        ("192.0.2.7", True),
        ("", True),
    ],
)
def test_where_others_can_reach_a_server(host: str, expected: bool) -> None:
    assert reachable_from_elsewhere(host) == expected


def test_nobody_else_reaches_a_server_without_keys() -> None:
    assert check_keys("127.0.0.1", [], now=5.0) is False
    rows = [make_key(["admin"], now=1.0, expires_at=4.0)[1]]
    with pytest.raises(InvalidInput, match=r"^host '0.0.0.0' can be reached .* keys create"):
        check_keys("0.0.0.0", rows, now=5.0)
    rows.append(make_key(["decide"], now=1.0)[1])
    assert check_keys("0.0.0.0", rows, now=5.0) is True
    with pytest.raises(InvalidInput, match="host must be an address of this machine"):
        check_keys("no such name", rows, now=5.0)
