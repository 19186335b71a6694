"""Readings as `kunline read --json` answers them."""

from typing import Self

from service.domain.metric import Unit, metric_named
from service.domain.reading import Reading, Readings, Unreadable
from service.domain.resolution import Fact
from service.domain.validity import SEEN_ON_HOST_ONLY, Finding, Severity, Validity, validity_of
from service.formats.messages import Message

INCOMPLETE = "condition_incomplete"


class ProblemRead(Message):
    """One thing that is wrong or odd, by its stable code and in a sentence."""

    code: str
    message: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Return what a gate found."""
        return cls(code=finding.code, message=finding.message)


class ValueRead(Message):
    """One value in its base unit."""

    value: float
    unit: Unit


class ReadingRead(Message):
    """One result of a tool's file. problems decide its validity, warnings do not.

    definition: revision of the tool's own meaning of its metrics. withheld: why a metric that the
    file has is not offered, by its name. resolution: what the server settled, as the file tells it.
    """

    file: str
    line: int
    tool: str
    tool_version: str | None
    definition: int
    validity: Validity
    problems: tuple[ProblemRead, ...]
    warnings: tuple[ProblemRead, ...]
    condition: dict[str, Fact]
    metrics: dict[str, ValueRead]
    withheld: dict[str, str]
    resolution: dict[str, Fact]

    @classmethod
    def of(cls, reading: Reading) -> Self:
        """Return a reading as it is answered."""
        findings = reading.findings
        return cls(
            file=reading.file,
            line=reading.line,
            tool=reading.tool,
            tool_version=reading.tool_version,
            definition=reading.definition,
            validity=validity_of(findings),
            problems=_problems(findings),
            warnings=_of_severity(findings, Severity.WARNING),
            condition=dict(reading.condition),
            metrics={
                name: ValueRead(value=value, unit=metric_named(name).unit)
                for name, value in reading.metrics.items()
            },
            withheld=dict(reading.withheld),
            resolution=dict(reading.resolution.facts),
        )


class UnreadableRead(Message):
    """A part of a file that gave no reading; line is null for the whole file."""

    file: str
    line: int | None
    code: str
    message: str

    @classmethod
    def of(cls, unreadable: Unreadable) -> Self:
        """Return it as it is answered."""
        return cls(
            file=unreadable.file,
            line=unreadable.line,
            code=unreadable.code,
            message=unreadable.message,
        )


class ReadingsRead(Message):
    """Everything some files gave."""

    readings: tuple[ReadingRead, ...]
    unreadable: tuple[UnreadableRead, ...]

    @classmethod
    def of(cls, readings: Readings) -> Self:
        """Return readings as they are answered."""
        return cls(
            readings=tuple(ReadingRead.of(reading) for reading in readings.readings),
            unreadable=tuple(UnreadableRead.of(part) for part in readings.unreadable),
        )


def _problems(findings: tuple[Finding, ...]) -> tuple[ProblemRead, ...]:
    failures = _of_severity(findings, Severity.FAILURE)
    unknown = [finding.gate for finding in findings if finding.severity is Severity.UNKNOWN]
    if not unknown:
        return failures
    open_gates = ", ".join(gate for gate in unknown if gate not in SEEN_ON_HOST_ONLY)
    message = (
        f"the file alone settles neither {open_gates} nor the gates that need the host"
        if open_gates
        else "the file alone does not settle the gates that need the host"
    )
    return (*failures, ProblemRead(code=INCOMPLETE, message=message))


def _of_severity(findings: tuple[Finding, ...], severity: Severity) -> tuple[ProblemRead, ...]:
    return tuple(ProblemRead.of(finding) for finding in findings if finding.severity is severity)
