"""The answer of an experiment: its arms, what each gained, which value to take, what it cost."""

from typing import Literal, Self
from uuid import UUID

from service.domain.experiment import Recommendation
from service.formats.comparisons import CellComparison
from service.formats.identities import Key
from service.formats.messages import Message


class ExperimentArm(Message):
    """One value of the parameter and the stack that has it; 'default' leaves it to the server."""

    value: str
    stack_key: Key
    stack_name: str


class RecommendationRead(Message):
    """The value to take and what it gains: ratios, positive is better, null where none is taken."""

    value: str
    gain: float | None
    low: float | None
    high: float | None
    reason: str
    regressed: tuple[str, ...]

    @classmethod
    def of(cls, found: Recommendation) -> Self:
        """Return a recommendation as it is answered."""
        gain = found.gain
        return cls(
            value=found.value,
            gain=gain.center if gain else None,
            low=gain.low if gain else None,
            high=gain.high if gain else None,
            reason=found.reason,
            regressed=found.regressed,
        )


class ExperimentAnswer(Message):
    """What an experiment came to.

    confidence: of each interval, so that all values together keep the policy's. card_s: what it is
    expected to have taken, in card-seconds. cached: an earlier session had measured all of it.
    """

    version: Literal[1] = 1
    plan: str
    parameter: str
    metric: str
    arms: tuple[ExperimentArm, ...]
    confidence: float
    session_id: UUID
    cached: bool
    card_s: float
    recommendation: RecommendationRead
    cells: tuple[CellComparison, ...]
