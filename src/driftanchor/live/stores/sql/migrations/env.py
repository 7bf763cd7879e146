"""What Alembic runs; the connection comes from `driftanchor.live.stores.sql.migrate`."""

from alembic import context

from driftanchor.live.stores.sql.schema import metadata, version

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=version.name,
    transactional_ddl=False,  # the caller ends the transaction
)
context.run_migrations()
