"""Whether the process lives, whether it can work, and how much there is: for probes and graphs."""

from collections.abc import Iterator

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.api.access import MayRead
from service.api.door import Door, Opened
from service.formats.health import Health, Readiness
from service.store.schema import newest_release, release_of
from service.usecases.count import Counts, count

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def alive() -> Health:
    """Answer that the process lives."""
    return Health(alive=True)


@router.get("/readyz", responses={503: {"model": Readiness}})
def ready(door: Opened, response: Response) -> Readiness:
    """Answer whether the database is there and at this Kunline's schema; 503 where it is not."""
    wanted, found = newest_release(), release_of(door.engine)
    if found != wanted:
        response.status_code = 503
    return Readiness(ready=found == wanted, schema_wanted=wanted, schema_found=found)


@router.get("/metrics", response_class=Response)
def metrics(door: Opened, _: MayRead) -> Response:
    """Return how many jobs, runs and runners there are, for Prometheus.

    Counted in the database, so every process of the API answers the same.
    """
    registry = CollectorRegistry()
    registry.register(Counted(_counts(door)))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class Counted(Collector):
    """What was counted, as Prometheus reads it."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """Yield one gauge a noun, with the state as its label."""
        for noun, found in (
            ("jobs", self._counts.jobs),
            ("runs", self._counts.runs),
            ("runners", self._counts.runners),
        ):
            gauge = GaugeMetricFamily(f"kunline_{noun}", f"{noun} by state", labels=["state"])
            for state, number in found.items():
                gauge.add_metric([state], number)
            yield gauge


def _counts(door: Door) -> Counts:
    with door.reading() as session:
        return count(session)
