"""The first tables."""

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    String,
    Text,
    text,
)

revision = "0001"
down_revision = None


def _campaign() -> Column[int]:
    return Column("campaign_id", Integer, ForeignKey("campaigns.id"), primary_key=True)


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "campaigns",
        Column("id", Integer, primary_key=True),
        Column("name", String(128), nullable=False, unique=True),
        Column("created_at", Double, nullable=False),
        Column("terms", Text, nullable=False),
        Column("settings", Text, nullable=False),
    )
    op.create_table(
        "heads",
        _campaign(),
        Column("seq", BigInteger, nullable=False),
        Column("decisions", BigInteger, nullable=False),
        Column("epoch", Integer, nullable=False),
        Column("paused", Boolean, nullable=False),
        Column("snapshot", BigInteger, nullable=False),
        Column("late", BigInteger, nullable=False),
    )
    op.create_table(
        "events",
        _campaign(),
        Column("seq", BigInteger, primary_key=True),
        Column("kind", String(16), nullable=False),
        Column("at", Double, nullable=False),
        Column("decision", BigInteger),
        Column("arm", Integer),
        Column("value", Double),
        Column("detail", Text),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "arms",
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
    op.create_table("traffic", _campaign(), Column("expected", LargeBinary, nullable=False))
    op.create_table("watches", _campaign(), Column("record", Text, nullable=False))
    _decisions()
    op.create_table(
        "history",
        _campaign(),
        Column("start", Double, primary_key=True),
        Column("arm", Integer, primary_key=True),
        Column("decisions", BigInteger, nullable=False),
        Column("rewards", BigInteger, nullable=False),
        Column("total", Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "snapshots",
        _campaign(),
        Column("seq", BigInteger, primary_key=True),
        Column("state", Text, nullable=False),
    )
    op.create_table(
        "request_keys",
        _campaign(),
        Column("key", String(256), primary_key=True),
        Column("decisions", Text, nullable=False),
        Column("at", Double, nullable=False),
    )


def _decisions() -> None:
    op.create_table(
        "decisions",
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
    )
    op.create_index("decisions_number", "decisions", ["campaign_id", "number"], unique=True)
    held = text("holds IS NOT NULL")
    op.create_index(
        "decisions_holds",
        "decisions",
        ["campaign_id", "epoch", "holds"],
        unique=True,
        sqlite_where=held,
        postgresql_where=held,
    )
    due = text("state = 'open' AND due_at IS NOT NULL")
    op.create_index(
        "decisions_due",
        "decisions",
        ["campaign_id", "due_at"],
        sqlite_where=due,
        postgresql_where=due,
    )
