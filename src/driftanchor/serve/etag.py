"""ETags: a tag changes when what is sent changes, and a client says which one it has."""

from __future__ import annotations

import hashlib


def tag_of(body: bytes) -> str:
    """The tag of an answer.

    Example:
        >>> tag_of(b"a")
        '"1ba3c523e770f3313cc91ab1"'
    """
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def is_known(tag: str, header: str | None) -> bool:
    """Whether a client has an answer already, by its header `If-None-Match`.

    Example:
        >>> [is_known('"a"', x) for x in ('"b", W/"a"', "*", '"b"', None)]
        [True, True, False, False]
    """
    known = [x.strip().removeprefix("W/") for x in (header or "").split(",")]
    return tag in known or "*" in known
