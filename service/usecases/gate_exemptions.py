"""What a gate does not count: open incidents of its base, waivers, and what only informs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.cell import Cell
from service.domain.ci_gate import Standing
from service.formats.gate_answers import GateIncident
from service.store import known_incidents, waivers
from service.store.database import ReadSession
from service.store.waivers import StoredWaiver
from service.usecases.gate_cells import Gated, GateState


@dataclass(frozen=True, slots=True)
class Exemptions:
    """Incidents that are open on the base, by cell, and the waivers in force for the plan."""

    incidents: Mapping[Cell, GateIncident]
    waivers: Sequence[StoredWaiver]

    def standing(self, state: GateState, gated: Gated, metric: str) -> Standing:
        """Return whether a metric of a cell gates, or only informs."""
        informs = metric in state.content.rules.informing
        return Standing.INFORMS if informs else gated.order.standing

    def waiver(self, state: GateState, gated: Gated, metric: str) -> StoredWaiver | None:
        """Return the waiver that covers a metric of a cell, the longest of several, or None."""
        return next(
            (
                stored
                for stored in self.waivers
                if stored.waiver.covers(
                    condition_key=gated.cell.condition_key,
                    metric=metric,
                    stack_key=state.content.base.stack_key,
                )
            ),
            None,
        )


def exemptions_of(session: ReadSession, state: GateState, *, at: datetime) -> Exemptions:
    """Return what a gate does not count, as it stood at a time."""
    known = known_incidents.of_base(
        session,
        state.content.base.stack_key,
        conditions={gated.cell.condition_key for gated in state.cells},
    )
    return Exemptions(
        incidents={
            cell: GateIncident(id=found.id, title=found.title, opened_at=found.opened_at)
            for cell, found in known.items()
        },
        waivers=waivers.in_force(session, state.session.plan, at=at),
    )
