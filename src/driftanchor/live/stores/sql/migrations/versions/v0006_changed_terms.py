"""Include changes of settings and bounds in the index of events that change a campaign."""

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"

CHANGES = text(
    "kind IN ('arm_added', 'arm_paused', 'arm_archived', 'arm_restored', 'arm_distrusted', "
    "'paused', 'resumed', 'epoch', 'alarm', 'changed')"
)


def upgrade() -> None:
    """Recreate the index."""
    op.drop_index("events_changes", "events")
    op.create_index(
        "events_changes",
        "events",
        ["campaign_id", "seq"],
        sqlite_where=CHANGES,
        postgresql_where=CHANGES,
    )
