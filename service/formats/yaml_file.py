"""A YAML file read into its shape; every problem in it with file, line, field and a way out."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from service.formats.shape_fields import fields_at
from service.formats.spelling import hint
from service.formats.yaml_nodes import Document, Place, Spot, YamlError, document, spot_at

Shape = TypeVar("Shape", bound=BaseModel)

MAX_FILE_BYTES = 256 * 1024
WHOLE = 0
_MOST_TEXT = 60
_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a map of names to values",
    "model_type": "a map of fields",
    "date_type": "a day such as 2026-11-20",
    "date_from_datetime_parsing": "a day such as 2026-11-20",
    "date_parsing": "a day such as 2026-11-20",
}


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One thing that is wrong in a file.

    line: WHOLE where there are no lines. field: dotted, or empty for the file as a whole.
    """

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:" if self.line == WHOLE else f"{self.file}:{self.line}:"
        return f"{where} {self.field}: {self.message}" if self.field else f"{where} {self.message}"


class FileProblemsError(ValueError):
    """Files cannot be used; every problem found in them is told."""

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class YamlFile(Generic[Shape]):
    """A file that was read. shown: its path as a person gave it."""

    shown: str
    shape: Shape
    spots: Mapping[Place, Spot]

    def problem(self, message: str, *place: str | int) -> FileProblem:
        """Return a problem of this file at a field of it."""
        return FileProblem(self.shown, spot_at(self.spots, place).line, _dotted(place), message)


def read_yaml(path: Path, shape: type[Shape]) -> YamlFile[Shape]:
    """Return a file's content as its shape. Raises FileProblemsError with all that is wrong."""
    shown = str(path)
    try:
        read = document(_text(path))
    except OSError as error:
        problem = FileProblem(shown, 1, "", f"cannot be read: {error.strerror}")
        raise FileProblemsError([problem]) from error
    except YamlError as error:
        raise FileProblemsError([FileProblem(shown, error.line, "", str(error))]) from error
    problems = [
        FileProblem(shown, spot.line, _dotted(place), "this field stands twice")
        for place, spot in read.twice
    ]
    try:
        # JSON mode takes lists for tuples and text for dates, and yet no '1' for a 1.
        value = shape.model_validate_json(json.dumps(read.value), strict=True)
    except ValidationError as error:
        problems += _problems(shown, shape, read, error)
        raise FileProblemsError(_by_line(problems)) from error
    if problems:
        raise FileProblemsError(_by_line(problems))
    return YamlFile(shown, value, read.spots)


def _text(path: Path) -> str:
    with path.open("rb") as stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise YamlError(1, f"the file is larger than {MAX_FILE_BYTES // 1024} KiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise YamlError(line, f"not UTF-8: byte 0x{content[error.start]:02x}") from error


def _problems(
    shown: str, shape: type[BaseModel], read: Document, error: ValidationError
) -> list[FileProblem]:
    found: dict[Place, FileProblem] = {}
    for detail in error.errors(include_url=False):
        if _follows(detail):
            continue
        place = _place(read, detail)
        if place in found:
            # A second finding of one place is another branch of 'text or number or …'.
            message = "must be text, a number, or true or false"
        else:
            message = _message(shape, read, place, detail)
        line = spot_at(read.spots, place).line
        found[place] = FileProblem(shown, line, _dotted(place), message)
    return list(found.values())


def _follows(detail: Mapping[str, Any]) -> bool:
    """Return whether a list is called too short only because its wrong entries do not count."""
    if detail["type"] != "too_short":
        return False
    counted: int = detail["ctx"]["actual_length"]
    return len(detail["input"]) > counted


def _place(read: Document, detail: Mapping[str, Any]) -> Place:
    # The branch of a choice ('build' of kind 'venv') is a step of the shape and none of the file.
    place: Place = ()
    for step in detail["loc"]:
        place = (*place, step) if (*place, step) in read.spots else place
    return (*place, detail["loc"][-1]) if detail["type"] == "missing" else place


def _message(
    shape: type[BaseModel], read: Document, place: Place, detail: Mapping[str, Any]
) -> str:
    written = read.spots[place].written if place in read.spots else None
    match detail["type"]:
        case "missing":
            return "this field is missing"
        case "extra_forbidden":
            return f"no such field; {hint(str(place[-1]), fields_at(shape, place[:-1]))}"
        case "literal_error" | "enum":
            words = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
            return f"{_shortened(detail['input'])} is not valid; {hint(written or '', words)}"
        case "string_type" if isinstance(detail["input"], bool | int | float):
            return f'must be text: write it in quotes, "{written}"'
        case "too_short":
            return f"needs at least {detail['ctx']['min_length']}, and has {len(detail['input'])}"
        case "value_error":
            return str(detail["ctx"]["error"])
        case kind if kind in _WANTED:
            return f"must be {_WANTED[kind]}, not {_shortened(detail['input'])}"
        case _:
            sentence: str = detail["msg"]
            return f"{sentence[0].lower()}{sentence[1:]}, not {_shortened(detail['input'])}"


def _shortened(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a map"
        case list() | tuple():
            return "a list"
        case _:
            text = repr(value)
            return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _dotted(place: Place) -> str:
    return ".".join(str(step) for step in place)


def _by_line(problems: Sequence[FileProblem]) -> list[FileProblem]:
    return sorted(problems, key=lambda problem: (problem.file, problem.line, problem.field))
