"""A checksum of the events of a campaign."""

from alembic import op
from sqlalchemy import BigInteger, Column

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column; campaigns that have events already get no checksum."""
    op.add_column("heads", Column("checksum", BigInteger))
    op.execute("UPDATE heads SET checksum = 0 WHERE seq = 0")
