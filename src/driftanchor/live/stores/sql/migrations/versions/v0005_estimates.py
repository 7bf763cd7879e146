"""Add indexes on the estimates of live rewards, by sequence number and by time."""

from alembic import op
from sqlalchemy import text

revision = "0005"
down_revision = "0004"

MATURED = text("kind = 'matured'")


def upgrade() -> None:
    """Create the indexes."""
    for name, column in (("events_matured", "seq"), ("events_matured_at", "at")):
        op.create_index(
            name,
            "events",
            ["campaign_id", column],
            sqlite_where=MATURED,
            postgresql_where=MATURED,
        )
