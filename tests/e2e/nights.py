"""Nights that are played: a runner that serves nothing tells again what was measured once.

A history of a fortnight would be an hour of servers. What it is held to, and what comes after it,
is measured by the real runner.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from random import Random
from uuid import uuid4

from service.client import Client
from service.domain.metric import Better
from service.domain.noise import KEPT
from service.formats.orders import CellOrder, Claim, JobOrder
from service.formats.reports import LaunchReport, RunReport
from service.formats.runs import RunDetail
from service.formats.sessions import SessionOrder

# Of each night, so that its launches tell how much launches differ.
LAUNCHES = 2
PLAYER = "player"
APART = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Luck:
    """Standard deviations of logarithms: what all of a night shares, of a launch, of a repeat."""

    night: float
    launch: float
    repeat: float


@dataclass(frozen=True, slots=True)
class Player:
    """Plays nights of one stack on the host on which one of them was measured.

    order: of such a night. like: what was measured then. The runner of that host rests meanwhile.
    """

    client: Client
    order: SessionOrder
    like: RunDetail
    luck: Luck
    draw: Random = field(default_factory=lambda: Random(1))

    def play(
        self, nights: int, *, before: datetime | None = None, until: Callable[[], bool] = bool
    ) -> None:
        """Order and report so many nights, fewer where until() says so.

        before: the time that they lie an hour apart before; else each is measured now.
        """
        resting = [runner.name for runner in self.client.runners() if runner.name != PLAYER]
        for name in resting:
            self.client.set_runner_state(name, "paused")
        for left in range(nights, 0, -1):
            if until():
                break
            self._night(before - left * APART if before else datetime.now(UTC))
        for name in resting:
            self.client.set_runner_state(name, "active")

    def _night(self, at: datetime) -> None:
        order = self.order.model_copy(update={"launches": self.order.launches * LAUNCHES})
        self.client.submit(order, idempotency_key=uuid4().hex)
        tonight = self.draw.gauss(0, self.luck.night)
        for _ in order.launches:
            job = self.client.claim(self._claim())
            assert job is not None, "what was ordered is to be had"
            self._report(job, at, tonight + self.draw.gauss(0, self.luck.launch))

    def _claim(self) -> Claim:
        return Claim(
            runner=PLAYER,
            incarnation=uuid4(),
            host=self.like.run.host,
            pool=self.order.pool,
            chips=("cpu",),
            cards=1,
            version=version("kunline"),
        )

    def _report(self, job: JobOrder, at: datetime, slower: float) -> None:
        """Report a launch that is slower by so much of a logarithm."""
        launch_id = uuid4()
        self.client.report_launch(
            LaunchReport(
                launch_id=launch_id,
                job_id=job.job_id,
                fencing_token=job.fencing_token,
                host=self.like.run.host,
                started_at=at,
                stopped_at=at,
                observed=dict(job.stack.stack.versions),
            )
        )
        for cell in job.launch.cells:
            self.client.report_run(
                RunReport(
                    run_id=uuid4(),
                    job_id=job.job_id,
                    launch_id=launch_id,
                    fencing_token=job.fencing_token,
                    condition_key=cell.condition_key,
                    protocol_key=cell.protocol_key,
                    measured_at=at,
                    finished_at=at,
                    seeds=cell.seeds,
                    values=self._values(cell, slower),
                    overhead_s=(0.0,) * len(cell.seeds),
                )
            )
        self.client.finish(job.job_id, job.fencing_token)

    def _values(self, cell: CellOrder, slower: float) -> Mapping[str, tuple[float, ...]]:
        """Return what was measured once, with the luck of this launch and of each repeat."""
        by_repeat = [slower + self.draw.gauss(0, self.luck.repeat) for _ in cell.seeds]
        found = {}
        for metric in KEPT:
            sign = 1 if metric.better is Better.LOWER else -1
            values = self.like.values.get(metric.name, ())
            scaled = zip(values, by_repeat, strict=False)
            found[metric.name] = tuple(value * math.exp(sign * luck) for value, luck in scaled)
        return {name: values for name, values in found.items() if values}
