"""The waiver: a person's word that a worsening does not count in a gate, until when, and why."""

from dataclasses import dataclass
from datetime import datetime, timedelta

# Longer than that it is no waiver any more: accept the change, and pin another baseline.
LONGEST = timedelta(days=90)


class WaiverTimeError(ValueError):
    """A waiver ends in the past, or too far in the future."""

    def __init__(self, until: datetime) -> None:
        super().__init__(
            f"a waiver ends within {LONGEST.days} days from now, not on {until:%Y-%m-%d %H:%M}: "
            "what is to stay is accepted by pinning another baseline"
        )


@dataclass(frozen=True, slots=True)
class Waiver:
    """What is waived: a plan's cells under one condition or all, in one metric or all.

    stack_key: only beside this base; None for any.
    """

    plan: str
    condition_key: str | None
    metric: str | None
    stack_key: str | None
    until: datetime
    why: str
    who: str

    def covers(self, *, condition_key: str, metric: str, stack_key: str) -> bool:
        """Return whether it speaks of a metric of a cell beside a base."""
        return (
            self.condition_key in {None, condition_key}
            and self.metric in {None, metric}
            and self.stack_key in {None, stack_key}
        )


def require_time(until: datetime, *, now: datetime) -> None:
    """Raise WaiverTimeError unless a waiver made now may end then."""
    if not now < until <= now + LONGEST:
        raise WaiverTimeError(until)
