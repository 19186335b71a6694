"""Imports: results measured elsewhere, with the whole condition stated, and what became of each."""

from enum import StrEnum
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AwareDatetime,
    Field,
    FiniteFloat,
    NonNegativeInt,
    PositiveInt,
    StringConstraints,
    model_validator,
)

from service.domain.metric import METRICS
from service.domain.resolution import Fact
from service.formats.identities import Key, KeyedCondition, KeyedProtocol, Name, StackOrder
from service.formats.messages import Message
from service.formats.reports import Artefact, GateFinding
from service.formats.verdicts import DifferenceRead
from service.formats.withdrawals import Reason, Who

# As many results as one call brings: each call is stored whole, or not at all.
RESULTS_MAX = 500
# The name of a tool's own text among the artefacts of a run.
TEXT_NAME = "result.txt"
FILE_CHARACTERS_MAX = 1000

DatedBy = Literal["stated", "file"]
FileName = Annotated[str, StringConstraints(min_length=1, max_length=FILE_CHARACTERS_MAX)]
Facts = Annotated[dict[str, Fact], Field(max_length=500)]


class ResultState(StrEnum):
    """What became of one result; for a dry run, what would have."""

    STORED = "stored"
    INVALID = "invalid"
    DUPLICATE = "duplicate"
    REFUSED = "refused"


class ImportedResult(Message):
    """One result as a reader gave it.

    digest: SHA-256 of the tool's own text of it. text: of the same text without its secrets, which
    comes with the order. position: which of the results in the text it is, from 0. launch: digest
    of the first result of its launch; those with the same one share a server process. dated_by:
    whether a person said when it was measured, or its file's own time stands for it. told: what
    the file tells of its condition.
    """

    digest: Key
    text: Key
    position: NonNegativeInt = 0
    file: FileName
    line: PositiveInt
    launch: Key
    tool: str = Field(max_length=200)
    tool_version: str | None = Field(default=None, max_length=200)
    definition: int
    measured_at: AwareDatetime
    finished_at: AwareDatetime
    dated_by: DatedBy
    values: dict[str, FiniteFloat]
    findings: tuple[GateFinding, ...] = ()
    told: Facts = Field(default_factory=dict)
    resolution: Facts = Field(default_factory=dict)

    @property
    def is_invalid(self) -> bool:
        """Whether a gate failed: such a result is stored, and never judged."""
        return any(finding.severity == "failure" for finding in self.findings)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if not self.values and not self.is_invalid:
            raise ValueError("a result has values or a failed gate")
        if unknown := sorted(self.values.keys() - METRICS.keys()):
            raise ValueError(f"values.{unknown[0]}: no such metric")
        if self.finished_at < self.measured_at:
            raise ValueError("finished_at lies before measured_at")
        return self


class ImportOrder(Message):
    """Results of one stack under one condition, and the texts they were read from.

    host: where they were measured, or null where nobody knows. served_as: what the files call the
    model. correct: why results that are stored under another condition, stack or host are wrong
    there: they are withdrawn for that reason and stored anew. dry_run: only say what would be done.
    """

    version: Literal[1] = 1
    condition: KeyedCondition
    protocol: KeyedProtocol
    stack: StackOrder
    host: Name | None = None
    served_as: str | None = Field(default=None, max_length=200)
    correct: Reason | None = None
    who: Who = None
    dry_run: bool = False
    results: tuple[ImportedResult, ...] = Field(min_length=1, max_length=RESULTS_MAX)
    texts: tuple[Artefact, ...] = ()

    @model_validator(mode="after")
    def _brings_every_text(self) -> Self:
        brought = {text.digest for text in self.texts}
        missing = next((one for one in self.results if one.text not in brought), None)
        if missing is not None and not self.dry_run:
            raise ValueError(f"the text of {missing.file}:{missing.line} is not among the texts")
        return self


class ResultRead(Message):
    """What became of one result. run_id: of the run that holds it; null where none does.

    withdrawn: that run is withdrawn. replaced: the run it was stored anew in place of.
    differences: where the file contradicts what is stated (the baseline's side), or where it is
    stored already under something else.
    """

    file: str
    line: int
    position: int
    state: ResultState
    run_id: UUID | None = None
    withdrawn: bool = False
    replaced: UUID | None = None
    reason: str = ""
    differences: tuple[DifferenceRead, ...] = ()


class ImportRead(Message):
    """The answer to an import, one line a result in the order they came. id: null for a dry run."""

    id: UUID | None
    stored_at: AwareDatetime
    imported_by: str
    condition_key: Key
    protocol_key: Key
    stack_key: Key
    host: str
    results: tuple[ResultRead, ...]


class Imported(Message):
    """What is known of an imported run: where it was read, and what the file itself told."""

    import_id: UUID
    file: str
    line: int
    digest: Key
    tool: str
    tool_version: str | None
    dated_by: DatedBy
    told: dict[str, Fact]
