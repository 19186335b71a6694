"""One more run before each question: what a night does to the dashboard all the time.

A session of the newest stack is under way on the first host, and its runner reports a run of one
cell after the other over HTTP. All of it is taken out again in the end.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle
from uuid import UUID, uuid4

import httpx
import psycopg

from service.domain.condition import Condition
from service.formats.reports import RunReport
from tests.bench.web_fill import (
    MEASURED,
    REPEATS,
    STACKS,
    Made,
    built,
    copy_rows,
    job_row,
    launch_row,
    name,
    session_row,
)
from tests.integration.builders import PROTOCOL

HOST = "h1"
SESSION = name("session under way")
# Launches of the session: no cell has more than one run in each.
LAUNCHES = 100
# As many cells as the shortest page of the matrix shows: a run of any of them is seen there.
CELLS = 100


@dataclass(slots=True)
class Night:
    """A session under way. turns: the cells whose runs come one after the other."""

    client: httpx.Client
    jobs: Sequence[UUID]
    turns: Iterator[Condition]
    draw: random.Random = field(default_factory=lambda: random.Random(1))
    _reported: Counter[str] = field(default_factory=Counter)

    def report(self, under: Condition | None) -> None:
        """Store one more run over HTTP, of a cell or of the one whose turn it is."""
        cell = under or next(self.turns)
        job = self.jobs[self._reported[cell.key]]
        self._reported[cell.key] += 1
        values = {
            metric: tuple(self.draw.gauss(1, 0.01) for _ in range(REPEATS)) for metric in MEASURED
        }
        report = RunReport(
            run_id=uuid4(),
            job_id=job,
            launch_id=job,
            fencing_token=1,
            condition_key=cell.key,
            protocol_key=PROTOCOL.key,
            measured_at=built(STACKS),
            finished_at=built(STACKS) + timedelta(seconds=10),
            seeds=tuple(range(REPEATS)),
            values=values,
            overhead_s=(1.0,) * REPEATS,
        )
        answer = self.client.put(
            f"/runs/{report.run_id}",
            content=report.model_dump_json(),
            headers={"Content-Type": "application/json"},
        )
        if not answer.is_success or not answer.json()["stored"]:
            raise RuntimeError(f"a run was not stored: {answer.text}")


@contextmanager
def under_way(url: str, address: str, of: Made) -> Iterator[Night]:
    """Begin the session, and take it out again. url, address: of the database and the service."""
    stack, jobs = of.stacks[-1], [name(f"job under way {number}") for number in range(LAUNCHES)]
    shown = sorted(of.by_host[HOST], key=lambda condition: condition.key)[:CELLS]
    cells = list({each.key: each for each in (*shown, of.by_host[HOST][0], *of.long)}.values())
    at = built(STACKS)
    with psycopg.connect(url) as connection:
        _take_out(connection)
        copy_rows(connection, "session", [session_row(SESSION, HOST, at, stack, finished=False)])
        claimed = (
            job_row((job, SESSION, number), stack, HOST, cells, state="claimed")
            for number, job in enumerate(jobs)
        )
        copy_rows(connection, "job", list(claimed))
        copy_rows(connection, "launch", [launch_row(job, stack, HOST, at) for job in jobs])
    try:
        with httpx.Client(base_url=address, timeout=60) as client:
            yield Night(client, jobs, cycle(shown))
    finally:
        with psycopg.connect(url) as connection:
            _take_out(connection)


def _take_out(connection: psycopg.Connection) -> None:
    for statement in (
        b"DELETE FROM sample USING run WHERE run.id = sample.run_id AND run.session_id = %s",
        b"DELETE FROM run WHERE session_id = %s",
        b"DELETE FROM launch USING job WHERE job.id = launch.job_id AND job.session_id = %s",
        b"DELETE FROM job WHERE session_id = %s",
        b"DELETE FROM session WHERE id = %s",
    ):
        connection.execute(statement, (SESSION,))
