"""The line protocol of `kunline detect --protocol`: one JSON object a line, in and out.

It is that of the evaluation harness for detectors, whose words (cell, cp, cand) are kept.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Line(BaseModel):
    """What the harness sends; what it may add one day is left aside."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class CellLine(_Line):
    """One series of an episode."""

    name: str
    metric: str = ""
    lower_is_better: bool = True


class Begin(_Line):
    """A new episode starts: everything before it is forgotten."""

    op: Literal["begin"]
    cells: tuple[CellLine, ...]


class Run(_Line):
    """One more run: a value of each cell."""

    op: Literal["run"]
    values: tuple[float | None, ...]


class Retest(_Line):
    """Values measured again on request; the screen never asks for them."""

    op: Literal["retest"]


class End(_Line):
    """The episode is over."""

    op: Literal["end"]


class Ab(_Line):
    """Repeats of one launch of each of two stacks, and past values of the first."""

    op: Literal["ab"]
    history: tuple[float, ...]
    base: tuple[float, ...]
    cand: tuple[float, ...]


class AlarmLine(BaseModel):
    """An alarm: of one cell, up or down; or of several (cell null), worse or better."""

    model_config = ConfigDict(frozen=True)

    cell: int | None
    cp: int
    dir: Literal["up", "down", "worse", "better"]


Line: TypeAlias = Annotated[Begin | Run | Retest | End | Ab, Field(discriminator="op")]
LINE: TypeAdapter[Line] = TypeAdapter(Line)
