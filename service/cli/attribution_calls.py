"""Tell the service how far an attribution is, as typed calls."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from service.cli.between import Meter
from service.cli.person import user_name
from service.client import Client
from service.domain.attribution import State
from service.domain.verdict import Outcome
from service.formats.attributions import AttributionAnswer, AttributionRead, AttributionReport


@dataclass(frozen=True, slots=True)
class Told:
    """One attribution as the service is told of it. incident_id: None where stacks were named."""

    client: Client
    good_stack_key: str
    bad_stack_key: str
    meter: Meter
    incident_id: UUID | None = None
    id: UUID = field(default_factory=uuid4)

    def __call__(self, answer: AttributionAnswer) -> None:
        """Tell how far it is."""
        self._tell(answer, State.SEARCHING)

    def end(self, answer: AttributionAnswer) -> None:
        """Tell what it came to."""
        self._tell(answer, State.STOPPED if answer.stopped else State.ENDED)

    def _tell(self, answer: AttributionAnswer, state: State) -> None:
        if self.incident_id is None and answer.outcome is Outcome.MISSING:
            return  # stacks that were never measured are not known to the service
        report = AttributionReport(
            incident_id=self.incident_id,
            good_stack_key=self.good_stack_key,
            bad_stack_key=self.bad_stack_key,
            state=state,
            budget_card_s=self.meter.limit_s,
            launches=self.meter.launches,
            card_s=self.meter.card_s,
            answer=answer,
            who=user_name(),
        )
        self.client.ask(AttributionRead, f"attributions/{self.id}", method="PUT", body=report)
