"""Keys that let programs use a server: how one is made, and what a store keeps of it.

A key is `da_`, its roles, and 48 random hexadecimal digits, such as `da_decide_reward_1f3a9c0b…`.
The first eight digits are its id, which lists and logs may show. A store keeps the SHA-256 of the
whole key: whoever reads the store cannot use the server. A hash that is slow on purpose protects
passwords, which can be guessed; the 160 random bits behind the id cannot.
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
LONGEST_NOTE = 200  # characters
_KEY = re.compile(rf"da_({'|'.join(ROLES)})(_({'|'.join(ROLES)}))*_[0-9a-f]{{{DIGITS}}}")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What a store keeps of a key.

    Attributes:
        id: The first digits of its random part.
        sha256: The hash of the key, in hexadecimal digits.
        roles: What it may be used for, words of `ROLES` with spaces between them.
        created_at: When it was made, in seconds since 1970.
        expires_at: The key is refused from this time on; `None` for never.
        revoked_at: When it was revoked; `None` if it was not.
        note: What it is for, in the words of whoever made it.
        campaign: The only campaign that it may read, without its events and units; `None` for all.
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
        """The start of the key, by which people know it again."""
        return f"da_{self.roles.replace(' ', '_')}_{self.id}"

    def state(self, now: float) -> str:
        """`"active"`, `"expired"` or `"revoked"`."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.expires_at is None or now < self.expires_at else "expired"

    def allows(self, role: str) -> bool:
        """Whether the key may be used for this; an admin may do everything."""
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
    """A new key, and what to keep of it; nobody can find the key again from that.

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
    if len(note) > LONGEST_NOTE or not note.isprintable():
        raise InvalidInput(
            f"must be at most {LONGEST_NOTE} printable characters, got {shown(note)}",
            argument="note",
        )
    if campaign is not None and wanted != {"read"}:
        raise InvalidInput("is only for keys with the role read alone", argument="campaign")
    named = [role for role in ROLES if role in wanted]
    digits = secrets.token_hex(DIGITS // 2)
    key = f"da_{'_'.join(named)}_{digits}"
    key_id, words = digits[:ID_DIGITS], " ".join(named)
    kept = KeyRow(key_id, digest(key), words, now, expires_at, None, note, campaign)
    return key, kept


def digest(key: str) -> str:
    """The SHA-256 of a key, in hexadecimal digits."""
    return hashlib.sha256(key.encode()).hexdigest()


def id_of(key: str) -> str | None:
    """The id in a key; `None` if the text has not the form of a key."""
    return key[-DIGITS:][:ID_DIGITS] if len(key) <= 128 and _KEY.fullmatch(key) else None


def is_same(key_digest: str, row: KeyRow) -> bool:
    """Whether a key has the hash of a row, in a time that says nothing about either."""
    return hmac.compare_digest(key_digest, row.sha256)
