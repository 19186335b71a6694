"""What Alembic runs: the migrations, over a connection it was handed or one of the settings'."""

from alembic import context
from sqlalchemy import Connection

from service.config import Settings
from service.store.database import create_database
from service.store.tables import Table


def run(connection: Connection) -> None:
    """Run what was asked for in the transaction of a connection."""
    context.configure(
        connection=connection,
        target_metadata=Table.metadata,
        render_as_batch=True,
        compare_type=True,
        transaction_per_migration=False,
    )
    with context.begin_transaction():
        context.run_migrations()


def run_by_settings() -> None:
    """Run on the database that the environment names: for the alembic command itself."""
    engine = create_database(Settings().database)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        run(connection)


if handed := context.config.attributes.get("connection"):
    run(handed)
else:
    run_by_settings()
