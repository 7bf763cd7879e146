"""An index of the estimates of live rewards, by time."""

from alembic import op
from sqlalchemy import text

revision = "0005"
down_revision = "0004"

MATURED = text("kind = 'matured'")


def upgrade() -> None:
    """Create the index."""
    op.create_index(
        "events_matured",
        "events",
        ["campaign_id", "at"],
        sqlite_where=MATURED,
        postgresql_where=MATURED,
    )
