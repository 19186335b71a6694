"""The withdrawal: a person takes a run out of every judgement, and may take that back."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Who withdrew a run, when and why. replaced_by: the run that stands in its place, if any."""

    run_id: UUID
    withdrawn_at: datetime
    withdrawn_by: str
    reason: str
    replaced_by: UUID | None = None

    @property
    def sentence(self) -> str:
        """The withdrawal in words, for whoever asks why the run is not judged."""
        instead = f"; run {self.replaced_by} stands in its place" if self.replaced_by else ""
        when = f"{self.withdrawn_at:%Y-%m-%d %H:%M} UTC"
        return f"withdrawn by {self.withdrawn_by} on {when}: {self.reason}{instead}"
