"""Access keys for a server: create and check them.

A key is `da_`, its roles, and 48 random hexadecimal digits, such as `da_decide_reward_1f3a9c0b…`.
The first eight digits are its id, which lists and logs may show. A store keeps only the SHA-256 of
the whole key, so read access to the store gives no access to the server. A slow hash is not needed:
it protects guessable passwords, and the other 160 random bits cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from driftanchor.errors import InvalidInput, UnknownName, shown

ROLES = ("decide", "reward", "read", "admin")  # in the order in which a key names them
ID_DIGITS, DIGITS = 8, 48
MAX_NOTE = 200  # characters
_KEY = re.compile(rf"da_({'|'.join(ROLES)})(_({'|'.join(ROLES)}))*_[0-9a-f]{{{DIGITS}}}")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A stored key.

    Attributes:
        id: The first digits of its random part.
        sha256: The hash of the key, in hexadecimal digits.
        roles: Its roles from `ROLES`, separated by spaces.
        created_at: When it was created, in seconds since 1970.
        expires_at: When it expires; `None` for never.
        revoked_at: When it was revoked; `None` if it was not.
        note: A note by its creator.
        campaign: The only campaign whose summary the key may read; `None` for no such limit.
    """

    id: str
    sha256: str
    roles: str
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    note: str = ""
    campaign: str | None = None

    @property
    def prefix(self) -> str:
        """The start of the key, which identifies it to people."""
        return f"da_{self.roles.replace(' ', '_')}_{self.id}"

    def state(self, now: float) -> str:
        """`"active"`, `"expired"` or `"revoked"`."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.expires_at is None or now < self.expires_at else "expired"

    def allows(self, role: str) -> bool:
        """Return whether the key grants a role; an admin key grants every role."""
        roles = self.roles.split(" ")
        return role in roles or "admin" in roles


def make_key(
    roles: Iterable[str],
    *,
    now: float,
    expires_at: float | None = None,
    note: str = "",
    campaign: str | None = None,
) -> tuple[str, KeyRow]:
    """Create a key; return it with its stored row, from which it cannot be recovered.

    Example:
        >>> key, row = make_key(["reward", "decide"], now=5.0)
        >>> row.roles, key.startswith(row.prefix), row.sha256 == digest(key)
        ('decide reward', True, True)
    """
    wanted = set(roles)
    if unknown := sorted(wanted - set(ROLES)):
        raise UnknownName("role", unknown[0], ROLES, argument="role")
    if not wanted:
        raise InvalidInput(f"must be at least one of {', '.join(ROLES)}", argument="role")
    if expires_at is not None and not (math.isfinite(expires_at) and expires_at > now):
        raise InvalidInput(f"must be in the future, got {shown(expires_at)}", argument="expires")
    if len(note) > MAX_NOTE or not note.isprintable():
        raise InvalidInput(
            f"must be at most {MAX_NOTE} printable characters, got {shown(note)}",
            argument="note",
        )
    if campaign is not None and wanted != {"read"}:
        raise InvalidInput("is only for keys whose only role is read", argument="campaign")
    named = [role for role in ROLES if role in wanted]
    digits = secrets.token_hex(DIGITS // 2)
    key = f"da_{'_'.join(named)}_{digits}"
    key_id, words = digits[:ID_DIGITS], " ".join(named)
    kept = KeyRow(key_id, digest(key), words, now, expires_at, None, note, campaign)
    return key, kept


def digest(key: str) -> str:
    """Return the SHA-256 of a key, in hexadecimal digits."""
    return hashlib.sha256(key.encode()).hexdigest()


def id_of(key: str) -> str | None:
    """Return the id in a key; `None` if the text is not a key."""
    return key[-DIGITS:][:ID_DIGITS] if len(key) <= 128 and _KEY.fullmatch(key) else None


def is_same(key_digest: str, row: KeyRow) -> bool:
    """Compare the digest of a key with a stored row, in constant time."""
    return hmac.compare_digest(key_digest, row.sha256)
