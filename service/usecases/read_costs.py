"""Read what cells cost when they were measured before."""

from collections.abc import Collection

from service.formats.costs import CostRead
from service.store import costs
from service.store.database import ReadSession


def read_costs(session: ReadSession, condition_keys: Collection[str]) -> tuple[CostRead, ...]:
    """Return what some cells cost; one that nobody measured here is left out."""
    return tuple(
        CostRead(
            condition_key=key, start_s=cost.start_s, repeat_s=cost.repeat_s, launches=cost.launches
        )
        for key, cost in sorted(costs.of_conditions(session, condition_keys).items())
    )
