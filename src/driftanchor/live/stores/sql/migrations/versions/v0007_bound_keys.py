"""Bind request keys to their request, expire them, and allow server keys for one campaign."""

from alembic import op
from sqlalchemy import Column, String

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns, and the index for finding expired keys."""
    op.add_column("request_keys", Column("digest", String(32)))
    op.create_index("request_keys_at", "request_keys", ["campaign_id", "at"])
    op.add_column("api_keys", Column("campaign", String(128)))
