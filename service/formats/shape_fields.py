"""Which fields a shape has at a place inside it, for messages about a field it does not have."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel


def fields_at(shape: type[BaseModel], place: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the names of the fields at a place, or none where the place holds no fields."""
    found: Any = shape
    for step in place:
        found = _below(_bare(found), step)
    return _fields(found)


def _fields(annotation: Any) -> tuple[str, ...]:
    """Return the fields of a shape; of a choice between shapes, those of any."""
    found = _bare(annotation)
    if get_origin(found) in {Union, UnionType}:
        return tuple(dict.fromkeys(name for each in get_args(found) for name in _fields(each)))
    return tuple(found.model_fields) if _is_shape(found) else ()


def _below(annotation: Any, step: str | int) -> Any:
    if _is_shape(annotation):
        known = annotation.model_fields.get(str(step))
        return None if known is None else known.annotation
    arguments = get_args(annotation)
    if not arguments:
        return None
    origin = get_origin(annotation)
    is_map = isinstance(origin, type) and issubclass(origin, Mapping)
    return arguments[1] if is_map else arguments[0]


def _bare(annotation: Any) -> Any:
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        kept = [argument for argument in get_args(annotation) if argument is not NoneType]
        return _bare(kept[0]) if len(kept) == 1 else annotation
    return annotation


def _is_shape(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
