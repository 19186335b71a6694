"""A launch as it is read: what was seen of one server process, and what the checks found."""

from uuid import UUID

from pydantic import AwareDatetime

from service.domain.resolution import Fact
from service.formats.artefacts import ArtefactRead
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.reports import Broken, LayerFinding, LoadedAnswer
from service.formats.verdicts import DifferenceRead


class LaunchRead(Message):
    """One server process. observed: versions by component name; drift: where a pin said another.

    answer: mean log-probability of each prompt of the fixed set; loaded_answer: in a full batch.
    """

    id: UUID
    job_id: UUID
    stack_key: Key
    stack_name: str
    host: str
    started_at: AwareDatetime
    stopped_at: AwareDatetime | None
    start_up_s: float | None
    observed: dict[str, str]
    drift: tuple[DifferenceRead, ...]
    resolution: dict[str, Fact]
    preflight: tuple[LayerFinding, ...]
    answer: tuple[float, ...]
    loaded_answer: LoadedAnswer | None = None
    broken: Broken | None
    artefacts: tuple[ArtefactRead, ...]
