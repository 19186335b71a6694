"""A column among very many values, as one parameter where the database knows arrays.

The driver takes as long to number a thousand parameters as the database does to find their rows.
"""

from collections.abc import Collection
from typing import TypeVar

from sqlalchemy import ColumnElement, any_, literal
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute

from service.store.database import ReadSession

Value = TypeVar("Value")


def among(
    session: ReadSession, column: InstrumentedAttribute[Value], values: Collection[Value]
) -> ColumnElement[bool]:
    """Return whether a column is one of some values."""
    if session.get_bind().dialect.name == "postgresql":
        return column == any_(literal(list(values), ARRAY(column.type)))
    return column.in_(values)
