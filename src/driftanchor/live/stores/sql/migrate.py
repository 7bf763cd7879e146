"""Running the migrations of Alembic that are part of this package."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

FOLDER = Path(__file__).parent / "migrations"


def configuration() -> Config:
    """The configuration of Alembic, without a file."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def run(connection: Connection, revision: str = "head") -> None:
    """Bring the tables to a revision, in the transaction of the connection."""
    config = configuration()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
