"""YAML text as plain values with the line each stands on, within limits.

The scalars are read as YAML 1.2's core schema does (yaml.org/spec/1.2.2, chapter 10.3), less
octal, hexadecimal and non-finite numbers: 'no' and '1:30' stay text, as a person meant them.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import yaml

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
Place = tuple[str | int, ...]

MAX_DEPTH = 24
# Aliases are followed, so what is counted is what they grow to.
MAX_NODES = 20_000

_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_MAX_DIGITS = 40
# libyaml reads the same in a tenth of the time, a mark of byte order within a text left out; a yaml
# that was built without it does without.
QUICK = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_BYTE_ORDER_MARK = "\ufeff"


class YamlError(ValueError):
    """A text is not YAML that is read here. line: where, counted from one."""

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands, and how a scalar is written there."""

    line: int
    written: str | None = None


@dataclass(slots=True)
class Document:
    """The value of a text, the spot of each place in it, and the keys that stand twice."""

    value: Plain = None
    spots: dict[Place, Spot] = field(default_factory=dict)
    twice: list[tuple[Place, Spot]] = field(default_factory=list)


def document(text: str) -> Document:
    """Return the one document in a text. Raises YamlError for whatever is not plain YAML."""
    if _BYTE_ORDER_MARK not in text:
        # What libyaml refuses is told in the same words and at the same lines wherever it is read.
        with suppress(YamlError, UnicodeEncodeError):
            return read_by(text, QUICK)
    return read_by(text, yaml.BaseLoader)


def read_by(text: str, loader: type[Any]) -> Document:
    """Return the one document in a text, read by one of yaml's loaders. Raises YamlError."""
    try:
        _check_limits(text, loader)
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        raise _marked(error) from error
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise YamlError(line, "a character that YAML does not allow") from error
    if root is None:
        raise YamlError(1, "the file is empty")
    read = Document()
    read.value = _value(root, (), read)
    return read


def _check_limits(text: str, loader: type[Any]) -> None:
    depth = 0
    for event in _events(text, loader):
        line = _line(event)
        if (tag := getattr(event, "tag", None)) is not None:
            raise YamlError(line, f"the tag {tag} is not read: write plain values")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise YamlError(line, f"values are nested deeper than {MAX_DEPTH} levels")


def _events(text: str, loader: type[Any]) -> Iterator[yaml.Event]:
    for count, event in enumerate(yaml.parse(text, Loader=loader)):
        if count > 2 * MAX_NODES:
            raise YamlError(_line(event), f"more than {MAX_NODES} values")
        yield event


def _line(part: yaml.Event | yaml.Node) -> int:
    return part.start_mark.line + 1 if part.start_mark is not None else 1


def _value(node: yaml.Node, place: Place, read: Document) -> Plain:
    line = _line(node)
    if len(read.spots) >= MAX_NODES:
        raise YamlError(line, f"more than {MAX_NODES} values, counting what aliases repeat")
    if len(place) > MAX_DEPTH:
        raise YamlError(line, "an alias holds itself, or values are nested too deep")
    match node:
        case yaml.ScalarNode():
            read.spots[place] = Spot(line, node.value)
            return _scalar(node)
        case yaml.SequenceNode():
            read.spots[place] = Spot(line)
            return [_value(item, (*place, index), read) for index, item in enumerate(node.value)]
        case _:
            read.spots[place] = Spot(line)
            return _mapping(node, place, read)


def _mapping(node: yaml.Node, place: Place, read: Document) -> dict[str, Plain]:
    values: dict[str, Plain] = {}
    for key, item in node.value:
        line = _line(key)
        if not isinstance(key, yaml.ScalarNode):
            raise YamlError(line, "a field's name is text, not a list or a map")
        here = (*place, key.value)
        if key.value in values:
            read.twice.append((here, Spot(line)))
            continue
        values[key.value] = _value(item, here, read)
        # A field is found by its name: a list below it begins a line later.
        read.spots[here] = Spot(line, read.spots[here].written)
    return values


def _scalar(node: yaml.ScalarNode) -> Plain:
    text: str = node.value
    if node.style:
        return text
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if len(text) > _MAX_DIGITS:
        return text
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _is_finite_decimal(text) else text


def _is_finite_decimal(text: str) -> bool:
    return _DECIMAL.fullmatch(text) is not None and abs(float(text)) != float("inf")


def _marked(error: yaml.MarkedYAMLError) -> YamlError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    problem = str(error.problem)
    if r"'\t'" in problem:
        return YamlError(line, "a tab: YAML indents with spaces")
    if "another document" in problem:
        return YamlError(line, "a second document begins: a file holds one")
    context = f"{error.context}, " if error.context else ""
    return YamlError(line, f"not YAML: {context}{problem}")


def spot_at(spots: Mapping[Place, Spot], place: Place) -> Spot:
    """Return where a place stands, or the nearest place above it that is in the file."""
    while place and place not in spots:
        place = place[:-1]
    return spots.get(place, Spot(1))
