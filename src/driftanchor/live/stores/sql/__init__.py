"""Campaigns in SQLite and PostgreSQL, by SQLAlchemy Core and Alembic."""
