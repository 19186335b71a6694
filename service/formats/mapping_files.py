"""Mapping files: what the columns of somebody's CSV are, in our words and units."""

from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, ValidationInfo, field_validator, model_validator

from service.domain.metric import METRICS, Unit
from service.domain.resolution import Fact
from service.formats.messages import Message
from service.formats.spelling import hint
from service.formats.yaml_file import read_yaml

# Spellings of a unit, and the factor that brings each to the base unit.
UNITS = MappingProxyType(
    {
        Unit.SECOND: {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0},
        Unit.TOKEN_PER_SECOND: {"tok/s": 1.0, "tok/min": 1 / 60},
        Unit.REQUEST_PER_SECOND: {"req/s": 1.0, "req/min": 1 / 60},
        Unit.TOKEN: {"tok": 1.0},
        Unit.RATIO: {"ratio": 1.0, "%": 0.01},
        Unit.BYTE: {
            "B": 1.0,
            "kB": 1e3,
            "MB": 1e6,
            "GB": 1e9,
            "KiB": 2.0**10,
            "MiB": 2.0**20,
            "GiB": 2.0**30,
        },
    }
)
# Counts that the gates judge a result by.
CountedFact = Literal[
    "requests_completed",
    "requests_asked",
    "requests_failed",
    "input_tokens",
    "output_tokens",
    "server_output_tokens",
    "retokenised",
    "server_errors",
    "retractions",
]
ConditionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
# What people and programs write into a cell that has no value.
NO_VALUE = ("", "-", "N/A", "n/a", "NA", "null", "None")


class ColumnSection(Message):
    """What one column holds: a metric and its unit, a field of the condition, or a fact.

    read_as: of a field of the condition; where it is left out, a cell that is a number is one.
    """

    metric: str | None = None
    unit: str | None = None
    condition: ConditionName | None = None
    fact: CountedFact | None = None
    read_as: Literal["text", "number"] | None = None

    @field_validator("metric")
    @classmethod
    def _is_a_metric(cls, metric: str | None) -> str | None:
        if metric is not None and metric not in METRICS:
            raise ValueError(f"no metric {metric!r}; {hint(metric, METRICS)}")
        return metric

    @field_validator("unit")
    @classmethod
    def _is_of_the_metric(cls, unit: str | None, fields: ValidationInfo) -> str | None:
        metric = fields.data.get("metric")
        if unit is None or metric is None:
            return unit
        known = UNITS[METRICS[metric].unit]
        if unit not in known:
            raise ValueError(f"{metric} is not measured in {unit!r}; {hint(unit, known)}")
        return unit

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        given = [name for name in ("metric", "condition", "fact") if getattr(self, name)]
        if len(given) != 1:
            said = " and ".join(given) or "none"
            raise ValueError(f"a column is one of metric, condition and fact; here it is {said}")
        if self.metric is None and self.unit is not None:
            raise ValueError("only a metric has a unit")
        if self.metric is not None and self.unit is None:
            units = ", ".join(UNITS[METRICS[self.metric].unit])
            raise ValueError(f"{self.metric} needs its unit: {units}")
        if self.read_as is not None and self.condition is None:
            raise ValueError("read_as is for a field of the condition alone")
        return self

    @property
    def factor(self) -> float:
        """What brings a metric's value to its base unit; 1 of what is no metric."""
        if self.metric is None or self.unit is None:
            return 1.0
        return UNITS[METRICS[self.metric].unit][self.unit]


class MappingFile(Message):
    """How a CSV is read: one row of headings, and then one result a row.

    tool, tool_version, definition: what the results are said to come from; raise the definition
    when a column's meaning changes, for two of them are never compared. condition: what holds for
    every row. lengths: 'fixed' where every request asked for the condition's input_tokens and
    output_tokens. streamed: whether the client saw single tokens. columns: by heading; what is not
    named is left aside.
    """

    tool: Annotated[str, Field(min_length=1, max_length=100)]
    tool_version: str | None = None
    definition: PositiveInt = 1
    delimiter: Literal[",", ";", "\t", "|"] = ","
    decimal: Literal[".", ","] = "."
    thousands: Literal[",", ".", " ", "'", "_"] | None = None
    row: Literal["result"] = "result"
    no_value: tuple[str, ...] = NO_VALUE
    condition: dict[ConditionName, Fact] = Field(default_factory=dict)
    lengths: Literal["fixed"] | None = None
    ignore_eos: bool | None = None
    streamed: bool = True
    columns: dict[str, ColumnSection]

    @field_validator("columns")
    @classmethod
    def _holds_a_metric(cls, columns: dict[str, ColumnSection]) -> dict[str, ColumnSection]:
        if not any(column.metric for column in columns.values()):
            raise ValueError("no column holds a metric, so there is nothing to read")
        seen: dict[str, str] = {}
        for heading, column in columns.items():
            what = column.metric or column.fact or f"condition {column.condition}"
            if what in seen:
                raise ValueError(f"{seen[what]!r} and {heading!r} both hold {what}")
            seen[what] = heading
        return columns

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.thousands == self.decimal:
            raise ValueError("thousands and decimal are the same mark")
        of_rows = {each.condition for each in self.columns.values() if each.condition}
        if twice := sorted(of_rows & self.condition.keys()):
            raise ValueError(f"{', '.join(twice)} is given for every row and by a column as well")
        return self


def read_mapping(path: Path) -> MappingFile:
    """Return a mapping file's content. Raises FileProblemsError with all that is wrong."""
    return read_yaml(path, MappingFile).shape
