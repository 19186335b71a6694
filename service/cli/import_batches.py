"""Results in batches that one call of the service takes, with what is stated of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

import zstandard

from service.domain.reading import Reading
from service.domain.redaction import redacted_bytes
from service.domain.stated import completed
from service.domain.validity import Finding, Severity
from service.formats.condition_files import StatedCondition
from service.formats.identities import KeyedCondition, KeyedProtocol, StackOrder
from service.formats.imports import (
    FILE_CHARACTERS_MAX,
    TEXT_NAME,
    DatedBy,
    ImportedResult,
    ImportOrder,
)
from service.formats.reports import Artefact, GateFinding
from service.formats.tools.texts import Written

# A call holds this many results, or this many bytes of texts as they are sent: far below what a
# service reads at once, and few enough for one short transaction.
BATCH_RESULTS = 200
BATCH_BYTES = 4 * 2**20
LEVEL = 3
# No load lasts longer; a file that says so tells no time.
LONGEST_S = 366 * 86_400.0


class LaunchPer(StrEnum):
    """What counts as one server launch among imported results."""

    FILE = "file"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person states of all results of an import."""

    condition: StatedCondition
    stack: StackOrder
    host: str | None
    launch_per: LaunchPer
    correct: str | None
    who: str | None
    dry_run: bool

    def order(self, batch: "Batch") -> ImportOrder:
        """Return a batch as the service is asked to store it."""
        return ImportOrder(
            condition=KeyedCondition.of(self.condition.condition),
            protocol=KeyedProtocol.of(self.condition.protocol),
            stack=self.stack,
            host=self.host,
            served_as=self.condition.served_as,
            correct=self.correct,
            who=self.who,
            dry_run=self.dry_run,
            results=tuple(batch.results),
            texts=() if self.dry_run else tuple(batch.texts.values()),
        )


@dataclass(frozen=True, slots=True)
class Dated:
    """When the results of a file were measured, as far as is known, and who says so."""

    finished_at: datetime
    by: DatedBy


@dataclass(slots=True)
class Batch:
    """Results for one call, and the texts they were read from."""

    results: list[ImportedResult] = field(default_factory=list)
    texts: dict[str, Artefact] = field(default_factory=dict)
    sent_bytes: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it should be sent before more is added."""
        return len(self.results) >= BATCH_RESULTS or self.sent_bytes >= BATCH_BYTES

    def add(self, results: Iterable[ImportedResult], text: Artefact) -> None:
        """Add the results of one text."""
        self.results += results
        if text.digest not in self.texts:
            self.texts[text.digest] = text
            self.sent_bytes += len(text.zstd)


def results_of(
    written: Written,
    text: Artefact,
    statement: Statement,
    dated: Dated,
    launch: str | None,
    *,
    first: int = 0,
) -> Iterator[ImportedResult]:
    """Yield the results of one text, their gates asked again now that the condition is whole.

    text: as it is kept. launch: the label of the file's launch; None for the file's first text.
    first: the position of the first result, above 0 where the text stood in its file before.
    """
    digest = sha256(written.text or b"").hexdigest()
    for position, reading in enumerate(written.readings, start=first):
        yield ImportedResult(
            digest=digest,
            text=text.digest,
            position=position,
            file=_writable(reading.file),
            line=reading.line,
            launch=_launch(statement, launch or digest, digest, position),
            tool=reading.tool,
            tool_version=reading.tool_version,
            definition=reading.definition,
            measured_at=dated.finished_at - _duration(reading),
            finished_at=dated.finished_at,
            dated_by=dated.by,
            values=dict(reading.metrics),
            findings=tuple(map(finding_of, _findings(reading, statement))),
            told=dict(reading.condition),
            resolution=dict(reading.resolution.facts),
        )


def text_of(written: Written) -> Artefact:
    """Return the tool's own text as it is kept: byte-exact, but for its secrets."""
    content = redacted_bytes(written.text or b"")
    return Artefact.model_construct(
        name=TEXT_NAME,
        media_type="text/plain",
        digest=sha256(content).hexdigest(),
        zstd=zstandard.ZstdCompressor(level=LEVEL).compress(content),
    )


def finding_of(finding: Finding) -> GateFinding:
    """Return what a gate found as it is stored; of an unknown, the sentence says all."""
    unknown = finding.severity is Severity.UNKNOWN
    return GateFinding(
        code=finding.code,
        severity=finding.severity.value,
        message="the file does not tell" if unknown else finding.message,
        observed=finding.observed,
        required=finding.required,
    )


def _findings(reading: Reading, statement: Statement) -> tuple[Finding, ...]:
    facts = completed(reading.facts, statement.condition.condition)
    return replace(reading, facts=facts).findings


def _launch(statement: Statement, of_file: str, digest: str, position: int) -> str:
    if statement.launch_per is LaunchPer.FILE:
        return of_file
    return sha256(f"{digest} {position}".encode()).hexdigest()


def _duration(reading: Reading) -> timedelta:
    return timedelta(seconds=min(reading.metrics.get("duration", 0.0), LONGEST_S))


def _writable(name: str) -> str:
    """Return a file's name without half characters, which a path may have and JSON may not."""
    return name.encode(errors="replace").decode()[-FILE_CHARACTERS_MAX:]
