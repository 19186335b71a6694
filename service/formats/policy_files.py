"""The policy file, and what a plan may change of it."""

from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt

from service.domain.metric import metric_named
from service.formats.messages import Message
from service.formats.sessions import PolicyOrder


def _known_metrics(tolerances: dict[str, float]) -> dict[str, float]:
    for name in tolerances:
        try:
            metric_named(name)
        except LookupError as error:
            raise ValueError(str(error)) from error
    return tolerances


Tolerance = Annotated[float, Field(gt=0, lt=1)]
Tolerances = Annotated[dict[str, Tolerance], AfterValidator(_known_metrics)]


class PolicyFile(Message):
    """Tolerances as ratios by metric, the fewest repeats of a verdict, and its confidence."""

    tolerances: Tolerances = Field(default_factory=dict)
    min_repeats: PositiveInt = 5
    confidence: float = Field(default=0.95, gt=0.5, lt=1)


class PolicySection(Message):
    """What a plan asks for instead of the policy file; the rest stays as it is there."""

    tolerances: Tolerances = Field(default_factory=dict)
    min_repeats: PositiveInt | None = None
    confidence: float | None = Field(default=None, gt=0.5, lt=1)

    def over(self, policy: PolicyFile) -> PolicyOrder:
        """Return the policy with this plan's changes, as a session carries it."""
        return PolicyOrder(
            tolerances={**policy.tolerances, **self.tolerances},
            min_repeats=self.min_repeats or policy.min_repeats,
            confidence=self.confidence or policy.confidence,
        )
