"""The schema: up, down and up again on both databases, and exactly what the tables say."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, inspect

from service.store import schema
from service.store.database import create_database


@pytest.fixture
def empty(empty_url: str) -> Iterator[Engine]:
    opened = create_database(empty_url, connections=2)
    yield opened
    opened.dispose()


def test_goes_up_down_and_up_again(empty: Engine) -> None:
    schema.upgrade(empty)
    schema.downgrade(empty, "base")
    left = set(inspect(empty).get_table_names())
    schema.upgrade(empty)

    assert left == {"alembic_version"}
    assert schema.release_of(empty) == schema.newest_release()


def test_migrations_and_tables_say_the_same(empty: Engine) -> None:
    schema.upgrade(empty)

    schema.check(empty)


def test_going_up_twice_changes_nothing(empty: Engine) -> None:
    schema.upgrade(empty)
    schema.upgrade(empty)

    assert schema.release_of(empty) == schema.newest_release()


def test_an_empty_database_has_no_release(empty: Engine) -> None:
    assert schema.release_of(empty) is None
