"""An index of the events that change a campaign, which are few among many."""

from alembic import op
from sqlalchemy import text

revision = "0004"
down_revision = "0003"

CHANGES = text(
    "kind IN ('arm_added', 'arm_paused', 'arm_archived', 'arm_restored', 'arm_distrusted', "
    "'paused', 'resumed', 'epoch', 'alarm')"
)


def upgrade() -> None:
    """Create the index."""
    op.create_index(
        "events_changes",
        "events",
        ["campaign_id", "seq"],
        sqlite_where=CHANGES,
        postgresql_where=CHANGES,
    )
