"""Keys of the server."""

from alembic import op
from sqlalchemy import Column, Double, String, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table of keys."""
    op.create_table(
        "api_keys",
        Column("id", String(16), primary_key=True),
        Column("sha256", String(64), nullable=False),
        Column("roles", String(64), nullable=False),
        Column("created_at", Double, nullable=False),
        Column("expires_at", Double),
        Column("revoked_at", Double),
        Column("note", Text, nullable=False),
    )
