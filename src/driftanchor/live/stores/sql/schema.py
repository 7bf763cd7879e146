"""The tables. If you change them, add a migration and its name here."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

from driftanchor.live.stores.journal import CHANGES

REVISION = "0007"  # the last migration
OLDER: tuple[str, ...] = ("0001", "0002", "0003", "0004", "0005", "0006")  # the migrations before

# The events of `CHANGES`; written once, so that the index and the query say the same.
IS_MATURED = "kind = 'matured'"
IS_CHANGE = f"kind IN ({', '.join(repr(kind) for kind in CHANGES)})"

metadata = MetaData()

version = Table(
    "driftanchor_version", metadata, Column("version_num", String(32), primary_key=True)
)

# What never changes is apart from what every transaction changes: a row is rewritten as a whole.
campaigns = Table(
    "campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(128), nullable=False, unique=True),
    Column("created_at", Double, nullable=False),
    Column("terms", Text, nullable=False),
    Column("settings", Text, nullable=False),
)


def _campaign() -> Column[int]:
    return Column("campaign_id", Integer, ForeignKey("campaigns.id"), primary_key=True)


heads = Table(
    "heads",
    metadata,
    _campaign(),
    Column("seq", BigInteger, nullable=False),
    Column("decisions", BigInteger, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("snapshot", BigInteger, nullable=False),
    Column("late", BigInteger, nullable=False),
    Column("checksum", BigInteger),
)

events = Table(
    "events",
    metadata,
    _campaign(),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("at", Double, nullable=False),
    Column("decision", BigInteger),
    Column("arm", Integer),
    Column("value", Double),
    Column("detail", Text),
    Index(  # a few rows of many: a campaign changes rarely
        "events_changes",
        "campaign_id",
        "seq",
        sqlite_where=text(IS_CHANGE),
        postgresql_where=text(IS_CHANGE),
    ),
    *(
        Index(
            name,
            "campaign_id",
            column,
            sqlite_where=text(IS_MATURED),
            postgresql_where=text(IS_MATURED),
        )
        for name, column in (("events_matured", "seq"), ("events_matured_at", "at"))
    ),
    sqlite_with_rowid=False,  # the rows lie in the order of the key
)

arms = Table(
    "arms",
    metadata,
    _campaign(),
    Column("arm", Integer, primary_key=True),
    Column("label", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("decisions", BigInteger, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    Column("squares", Double, nullable=False),
    Column("pending", BigInteger, nullable=False),
    Column("memory", Text, nullable=False),
    Column("added_seq", BigInteger, nullable=False),
    Column("added", Text),
    Column("distrusted_seq", BigInteger),
    sqlite_with_rowid=False,
)

traffic = Table(
    "traffic",
    metadata,
    _campaign(),
    Column("expected", LargeBinary, nullable=False),  # 64-bit floats: `PropensitySums`
)

watches = Table("watches", metadata, _campaign(), Column("record", Text, nullable=False))

decisions = Table(
    "decisions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("campaign_id", Integer, ForeignKey("campaigns.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("unit", Text),
    Column("holds", Text),
    Column("epoch", Integer, nullable=False),
    Column("propensity", Double, nullable=False),
    Column("state", String(16), nullable=False),
    Column("asked_at", Double, nullable=False),
    Column("exposed_at", Double),
    Column("due_at", Double),
    Column("settled_at", Double),
    Column("reward", Double),
    Column("reported", Double),
    Index("decisions_number", "campaign_id", "number", unique=True),
    Index(
        "decisions_holds",
        "campaign_id",
        "epoch",
        "holds",
        unique=True,
        sqlite_where=text("holds IS NOT NULL"),
        postgresql_where=text("holds IS NOT NULL"),
    ),
    Index(
        "decisions_due",
        "campaign_id",
        "due_at",
        sqlite_where=text("state = 'open' AND due_at IS NOT NULL"),
        postgresql_where=text("state = 'open' AND due_at IS NOT NULL"),
    ),
)

history = Table(
    "history",
    metadata,
    _campaign(),
    Column("start", Double, primary_key=True),
    Column("arm", Integer, primary_key=True),
    Column("decisions", BigInteger, nullable=False),
    Column("rewards", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    sqlite_with_rowid=False,
)

snapshots = Table(
    "snapshots",
    metadata,
    _campaign(),
    Column("seq", BigInteger, primary_key=True),
    Column("state", Text, nullable=False),
)

request_keys = Table(
    "request_keys",
    metadata,
    _campaign(),
    Column("key", String(256), primary_key=True),
    Column("decisions", Text, nullable=False),  # their ids
    Column("at", Double, nullable=False),
    Column("digest", String(32)),  # digest of the request; null in rows of older versions
    Index("request_keys_at", "campaign_id", "at"),
)

# Of the server: what is kept of the keys that let programs use it, which is not the keys.
api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("roles", String(64), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double),
    Column("revoked_at", Double),
    Column("note", Text, nullable=False),
    Column("campaign", String(128)),  # the only campaign that the key may read
)
