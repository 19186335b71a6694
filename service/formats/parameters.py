"""The catalogue of documented parameters as it is kept: data beside this module, read once."""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from service.domain.experiment import ExperimentError
from service.domain.parameter import Documented, Family, Grade, is_silent, named
from service.formats.known_failures import Words
from service.formats.messages import Message
from service.formats.spelling import hint
from service.formats.yaml_file import read_yaml

TABLE = Path(__file__).with_name("parameters.yaml")

ParameterName = Annotated[str, Field(pattern=r"^(--[a-z0-9-]+|[A-Z][A-Z0-9_]*)$")]
Value = Annotated[str, Field(min_length=1, max_length=40)]


class ParameterSection(Message):
    """One row: see service.domain.parameter.Documented."""

    name: ParameterName
    family: Family
    values: tuple[Value, ...] = Field(max_length=8)
    meaning: Words
    caution: Words | None = None
    source: Annotated[str, Field(min_length=4, max_length=200)]
    grade: Grade

    def told(self, *, chinese: bool) -> Documented:
        """Return the row in one language."""
        meaning, caution = (
            each if each is None else each.zh if chinese else each.en
            for each in (self.meaning, self.caution)
        )
        return Documented(
            self.name,
            self.family,
            self.values,
            meaning or "",
            self.source,
            self.grade,
            caution or "",
        )


class ParametersFile(Message):
    """The catalogue, family by family."""

    parameters: tuple[ParameterSection, ...] = Field(max_length=200)


@cache
def catalogue() -> ParametersFile:
    """Return the catalogue. It is part of the program: a broken one is a broken installation."""
    return read_yaml(TABLE, ParametersFile).shape


def documented(*, chinese: bool = False) -> tuple[Documented, ...]:
    """Return the documented parameters in one language."""
    return tuple(row.told(chinese=chinese) for row in catalogue().parameters)


def require_documented(name: str) -> None:
    """Raise ExperimentError for a name that its library would pass over in silence."""
    known = documented()
    if is_silent(name) and named(name, known) is None:
        silent = [each.name for each in known if is_silent(each.name)]
        raise ExperimentError(
            f"{name} is documented nowhere that is known, and a library passes over a wrong name "
            f"in silence: {hint(name, silent)} (kunline scaling parameters lists them; "
            "--undocumented tries it all the same)"
        )
