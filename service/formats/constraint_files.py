"""Constraints as a person writes them down: in a stack file, and in matrix/constraints.yaml."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from service.domain.constraint import Constraint, Requires, Together, VersionSpecError, fits
from service.formats.identities import Name
from service.formats.messages import Message
from service.formats.yaml_file import YamlFile, read_yaml

CONSTRAINTS = "constraints.yaml"
# A version that any spec can be asked about.
ANY_VERSION = "1"

Specs = dict[Name, Annotated[str, Field(min_length=1, max_length=200)]]


class ConstraintSection(Message):
    """One constraint: components that move together, or what some versions need.

    source: whose word it is: a document or an issue that anybody can look up.
    """

    name: Name
    together: tuple[Name, ...] = ()
    when: Specs = Field(default_factory=dict)
    then: Specs = Field(default_factory=dict)
    source: Annotated[str, Field(min_length=1, max_length=1000)]
    note: Annotated[str, Field(max_length=2000)] = ""

    @field_validator("when", "then")
    @classmethod
    def _names_versions(cls, specs: dict[str, str]) -> dict[str, str]:
        for spec in specs.values():
            try:
                fits(ANY_VERSION, spec)
            except VersionSpecError as error:
                raise ValueError(str(error)) from error
        return specs

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if self.together and (self.when or self.then):
            raise ValueError("a constraint has 'together', or 'when' and 'then', and not both")
        if not self.together and not self.then:
            raise ValueError("say what moves together, or with 'then' which versions are needed")
        if len(self.together) == 1:
            raise ValueError("together needs two components or more")
        return self

    def constraint(self) -> Constraint:
        """Return the constraint."""
        rule = Together(self.together) if self.together else Requires(self.when, self.then)
        return Constraint(self.name, rule, self.source, self.note)


class ConstraintsFile(Message):
    """What vendors' documents declare, each with its source."""

    constraints: tuple[ConstraintSection, ...] = ()

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        names = [each.name for each in self.constraints]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"the constraint {twice[0]} stands twice")
        return self


def read_constraints(matrix: Path) -> YamlFile[ConstraintsFile]:
    """Return the constraints of a matrix directory; none where it has no such file.

    Raises FileProblemsError.
    """
    path = matrix / CONSTRAINTS
    if not path.is_file():
        return YamlFile(str(path), ConstraintsFile(), {})
    return read_yaml(path, ConstraintsFile)
