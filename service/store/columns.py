"""What tables are declared with: times that know their zone, documents, names of constraints."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    JSON,
    DateTime,
    Dialect,
    Float,
    LargeBinary,
    MetaData,
    Text,
    TypeDecorator,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase


class NaiveTimeError(ValueError):
    """A time without a zone was about to be stored."""

    def __init__(self, value: datetime) -> None:
        super().__init__(f"{value} does not say its zone")


class Moment(TypeDecorator[datetime]):
    """A time that comes back in UTC from both databases, though SQLite keeps no zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return a time in UTC. Raises NaiveTimeError for one without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise NaiveTimeError(value)
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def result_processor(
        self, dialect: Dialect, coltype: Any
    ) -> Callable[[Any], datetime | None] | None:
        """Return what makes a time of what the driver gave: pages read tens of thousands."""
        if dialect.name == "sqlite":
            return super().result_processor(dialect, coltype)
        return _in_utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return a time in UTC."""
        if value is None or dialect.name != "sqlite":
            return _in_utc(value)
        return value.replace(tzinfo=UTC)


def _in_utc(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)


Document = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class Table(DeclarativeBase):
    """Base of every table; constraint names are fixed so migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text(),
        float: Float(53),
        datetime: Moment(),
        UUID: Uuid(),
        bytes: LargeBinary(),
        dict[str, Any]: Document,
        list[Any]: Document,
    }
