"""What a runner answers: raw values in base units, or where the stack broke. It never judges."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AwareDatetime,
    Base64Encoder,
    ConfigDict,
    EncodedBytes,
    Field,
    FiniteFloat,
    PositiveInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from service.domain.layer import Layer
from service.domain.metric import METRICS
from service.domain.resolution import Fact
from service.domain.validity import Validity, validity_of_run
from service.formats.identities import Key, Name
from service.formats.messages import Message

ARTEFACT_BYTES_MAX = 16 * 2**20
FINDING_CHARACTERS_MAX = 4000
# Between what is kept of the begin of a long finding and its end.
LEFT_OUT = "\n…\n"

Sample = Annotated[tuple[FiniteFloat, ...], Field(min_length=1, max_length=1000)]

_PLAIN_BASE64 = TypeAdapter(bytes, config=ConfigDict(val_json_bytes="base64"))


def shortened(finding: str) -> str:
    """Return a finding no longer than it may be: its first line, which says what, and its end."""
    if len(finding) <= FINDING_CHARACTERS_MAX:
        return finding
    begin = finding.partition("\n")[0][: FINDING_CHARACTERS_MAX // 4] + LEFT_OUT
    return begin + finding[len(begin) - FINDING_CHARACTERS_MAX :]


class QuickBase64(Base64Encoder):
    """Base64 as Base64Bytes takes it, read in a third of the time."""

    @classmethod
    def decode(cls, data: bytes) -> bytes:
        """Return what was encoded; what holds line breaks as well is left to the slower way."""
        try:
            return _PLAIN_BASE64.validate_json(b'"%b"' % data)
        except ValidationError:
            return super().decode(data)


class Artefact(Message):
    """A text or file kept byte-exact beside what was read from it.

    digest: SHA-256 of the content. zstd: the content, compressed; at most 16 MiB of it.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
    media_type: str = "text/plain"
    digest: Key
    zstd: Annotated[bytes, EncodedBytes(encoder=QuickBase64)]


class GateFinding(Message):
    """What a validity gate saw. A warning is shown; a failure makes the run invalid.

    unknown: nothing that was looked at tells whether the gate holds, which is shown as well.
    """

    code: str
    severity: Literal["failure", "warning", "unknown"]
    message: str
    observed: str
    required: str


class Broken(Message):
    """The lowest layer of the stack that did not work, and what was seen there."""

    layer: Layer
    finding: str = Field(max_length=FINDING_CHARACTERS_MAX)
    remedy: str = Field(default="", max_length=1000)


class LayerFinding(Message):
    """One layer of a preflight: whether it works, what was seen, and what to do about it."""

    layer: Layer
    state: Literal["works", "broken", "skipped"]
    finding: str = Field(default="", max_length=FINDING_CHARACTERS_MAX)
    remedy: str = Field(default="", max_length=1000)
    seconds: float = Field(default=0.0, ge=0)


class LoadedAnswer(Message):
    """What the fixed prompts gave in a full batch: mean log-probability of each.

    concurrency: requests in flight, the fixed prompts among them.
    """

    concurrency: PositiveInt
    log_probabilities: tuple[FiniteFloat, ...] = Field(min_length=1, max_length=1000)


class LaunchReport(Message):
    """One server process: when it lived, what was observed in it, what it settled by itself.

    observed: versions by component name, as seen inside the measured environment.
    answer: mean log-probability of each prompt of the fixed set, kept beside speed.
    loaded_answer: the same under the largest load of the launch; None where nobody asked.
    """

    version: Literal[1] = 1
    launch_id: UUID
    job_id: UUID
    fencing_token: PositiveInt
    host: Name
    started_at: AwareDatetime
    stopped_at: AwareDatetime | None = None
    start_up_s: float | None = Field(default=None, ge=0)
    observed: dict[str, str] = Field(default_factory=dict)
    resolution: dict[str, Fact] = Field(default_factory=dict)
    preflight: tuple[LayerFinding, ...] = ()
    answer: tuple[FiniteFloat, ...] = ()
    loaded_answer: LoadedAnswer | None = None
    broken: Broken | None = None
    artefacts: tuple[Artefact, ...] = ()


class RunReport(Message):
    """One cell measured in one launch: every repeat's raw values, in base units.

    seeds: in the order in which the repeats were measured; values hold one number for each.
    overhead_s: time spent outside the measured load, one number a repeat.
    """

    version: Literal[1] = 1
    run_id: UUID
    job_id: UUID
    launch_id: UUID
    fencing_token: PositiveInt
    condition_key: Key
    protocol_key: Key
    measured_at: AwareDatetime
    finished_at: AwareDatetime
    seeds: tuple[int, ...] = ()
    values: dict[str, Sample] = Field(default_factory=dict)
    overhead_s: tuple[FiniteFloat, ...] = ()
    findings: tuple[GateFinding, ...] = ()
    broken: Broken | None = None
    artefacts: tuple[Artefact, ...] = ()

    @property
    def state(self) -> Literal["measured", "incomplete", "invalid", "broken"]:
        """What the run is worth: broken at a layer, invalid or unknown at a gate, or measured."""
        if self.broken is not None:
            return "broken"
        match validity_of_run(self.findings):
            case Validity.VALID:
                return "measured"
            case Validity.INCOMPLETE:
                return "incomplete"
            case Validity.INVALID:
                return "invalid"

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.broken is None and not self.values and self.state != "invalid":
            raise ValueError("a report has values, a failed gate or a broken layer")
        for name, sample in self.values.items():
            if name not in METRICS:
                raise ValueError(f"values.{name}: no such metric")
            if len(sample) != len(self.seeds):
                raise ValueError(f"values.{name}: {len(sample)} values for {len(self.seeds)} seeds")
        if self.finished_at < self.measured_at:
            raise ValueError("finished_at lies before measured_at")
        return self


class Stored(Message):
    """The answer to a report: whether it was new, or had been stored before."""

    run_id: UUID
    stored: bool
