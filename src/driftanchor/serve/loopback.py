"""Detect loopback addresses, and where a request came from."""

from __future__ import annotations

import functools
import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Any

from driftanchor.errors import InvalidInput
from driftanchor.live.stores.access_keys import KeyRow

_PLACE = re.compile(rb"(?:https?://)?(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@]+)(?::\d*)?")
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@]+)(?::(\d{1,5}))?")
FORWARDING = frozenset(
    {
        b"cdn-loop",
        b"cf-connecting-ip",
        b"client-ip",
        b"fastly-client-ip",
        b"fly-client-ip",
        b"forwarded",
        b"true-client-ip",
        b"via",
        b"x-azure-clientip",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-envoy-external-address",
        b"x-envoy-internal",
        b"x-original-forwarded-for",
        b"x-original-host",
        b"x-real-ip",
    }
)  # headers that only proxies add, besides those that start with x-forwarded


def is_forwarded(name: bytes) -> bool:
    """Return whether this is a header that proxies add; the name is in lower case.

    Example:
        >>> [is_forwarded(x) for x in (b"x-forwarded-for", b"x_real_ip", b"via", b"x-request-id")]
        [True, True, True, False]
    """
    name = name.replace(b"_", b"-")
    return name in FORWARDING or name.startswith(b"x-forwarded")


@functools.lru_cache(maxsize=64)
def names_server(host: bytes, address: str, port: int) -> bool:
    """Return whether a `Host` header names the loopback address a server listens on.

    Args:
        host: The header.
        address: The IP address of the server.
        port: The port of the server; a `Host` without a port means 80.

    Example:
        >>> [names_server(x, "127.0.0.1", 8484) for x in (b"localhost:8484", b"127.0.0.1:8484")]
        [True, True]
        >>> [names_server(x, "127.0.0.1", 8484) for x in (b"127.0.0.1", b"127.0.0.2:8484")]
        [False, False]
    """
    match = _HOST.fullmatch(host)
    if match is None or int(match[2] or 80) != port:
        return False
    name = match[1].decode("latin-1").strip("[]").lower()
    try:
        bound = ipaddress.ip_address(address.partition("%")[0])
        return name == "localhost" or ipaddress.ip_address(name) == bound
    except ValueError:
        return False


@functools.lru_cache(maxsize=64)  # clients send the same few values again and again
def is_local(place: bytes) -> bool:
    """Return whether a `Host` or `Origin` names this machine, without resolving the name.

    Example:
        >>> [is_local(x) for x in (b"localhost:8484", b"http://127.0.0.1", b"[::1]:8484")]
        [True, True, True]
        >>> [is_local(x) for x in (b"evil.example", b"null", b"127.0.0.1.evil.example", b"")]
        [False, False, False, False]
    """
    match = _PLACE.fullmatch(place.strip())
    name = "" if match is None else match[1].decode("latin-1").strip("[]").lower()
    return name == "localhost" or name.endswith(".localhost") or _is_loopback(name)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def reachable_from_elsewhere(host: str) -> bool:
    """Return whether other machines can reach a server that listens on this address."""
    try:
        addresses = socket.getaddrinfo(host or None, 0, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(
            f"must be an address of this machine, such as 127.0.0.1, got {host!r}", argument="host"
        ) from error
    return not all(_is_loopback(str(address[0]).partition("%")[0]) for *_, address in addresses)


def check_keys(host: str, rows: Iterable[KeyRow], now: float) -> bool:
    """Return whether a server must require keys, because other machines can reach it.

    Args:
        host: The address to listen on.
        rows: The keys of its store.
        now: The time, in seconds since 1970.

    Raises:
        InvalidInput: Other machines can reach it, and the store has no active key.
    """
    if not reachable_from_elsewhere(host):
        return False
    if not any(row.state(now) == "active" for row in rows):
        raise InvalidInput(
            f"{host!r} can be reached from other machines, and the store has no key that works: "
            "run 'driftanchor keys create --role admin' first, or listen on 127.0.0.1",
            argument="host",
        )
    return True


def caller_of(scope: Any) -> str:
    """Return the client's address; for IPv6, only its /64 network.

    Example:
        >>> caller_of({"client": ("192.0.2.7", 5)}), caller_of({"client": None})
        ('192.0.2.7', '')
        >>> caller_of({"client": ("2001:db8:0:1:2:3:4:5", 5)})
        '2001:db8:0:1::'
    """
    client = scope.get("client")
    address = str(client[0]) if client else ""
    if ":" not in address:
        return address
    try:
        whole = int(ipaddress.IPv6Address(address.partition("%")[0]))
    except ValueError:
        return address
    return str(ipaddress.IPv6Address(whole >> 64 << 64))
