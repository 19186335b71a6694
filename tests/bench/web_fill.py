"""What the pages' questions are asked of: ten million values, made where PostgreSQL keeps them.

1,000 cells on two hosts, four numbers of cards to each workload, 25 stacks of two launches each, 20
metrics of 10 repeats a run; one cell with a series of 500 runs, a launch each, and one with
100,000. All ids follow from names, so that a folder that was filled before is found again.
"""

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from uuid import UUID, uuid5

import psycopg
from psycopg.types.json import Jsonb
from sqlalchemy import Engine

from service.domain.baseline import Pin
from service.domain.cell import Cell
from service.domain.condition import Condition
from service.domain.metric import METRICS
from service.domain.stack import Stack
from service.store import baselines, conditions, protocols, stacks
from service.store.database import writing
from service.store.stacks import StoredStack
from tests.integration import builders
from tests.integration.builders import NOW, PROTOCOL

CARDS = (1, 2, 4, 8)
CONCURRENCIES = 250
STACKS = 25
LAUNCHES = 2
METRIC_COUNT = 20
REPEATS = 10
LONG = (500, 100_000)
# Runs of the series of 500 that each of its sessions has, a launch each.
IN_SESSION = LONG[0] // STACKS
SAMPLES = 500
SPACE = UUID(int=1)
NAMES = [*list(METRICS)[:5], "tpot_p50", "output_throughput"]
MEASURED = tuple(dict.fromkeys([*NAMES, *METRICS]))[:METRIC_COUNT]
COLUMNS = {
    "session": "id, plan, pool, chip, state, host, baseline_stack_key, content, created_at, "
    "finished_at",
    "job": "id, session_id, ordinal, state, pool, chip, cards, stack_key, launch, cells, repeats, "
    "attempt, fencing_token, runner, incarnation, host, lease_until, progress, broken, "
    "announced_at, finished_at",
    "launch": "id, job_id, stack_key, host, started_at, stopped_at, start_up_s, observed, drift, "
    "resolution, preflight, answer, broken",
    "run": "id, session_id, job_id, launch_id, condition_key, protocol_key, stack_key, host, "
    "state, measured_at, finished_at, stored_at, seeds, overhead_s, findings, broken",
}

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """The names of all that is there. by_host: the conditions that each of two hosts measures.

    long: those of the two long series, on a host of their own.
    """

    stacks: tuple[Stack, ...]
    by_host: dict[str, tuple[Condition, ...]]
    long: tuple[Condition, ...]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The thousand conditions of the matrix."""
        return tuple(each for of_host in self.by_host.values() for each in of_host)


@dataclass(slots=True)
class _Rows:
    """Rows of the tables of what was measured, in the order in which they must be stored."""

    session: list[Row]
    job: list[Row]
    launch: list[Row]
    run: list[Row]


def made() -> Made:
    """Return what there is, or is to be made."""
    loads = range(1, CONCURRENCIES + 1)
    by_host = {
        host: tuple(
            builders.condition(concurrency=load, tp=cards)
            for load in loads
            if load % 2 == odd
            for cards in CARDS
        )
        for host, odd in (("h1", 1), ("h2", 0))
    }
    return Made(
        stacks=tuple(builders.stack(f"0.5.{number}") for number in range(STACKS)),
        by_host=by_host,
        long=tuple(
            builders.condition(concurrency=CONCURRENCIES + number + 1)
            for number in range(len(LONG))
        ),
    )


def name(text: str) -> UUID:
    """Return the id of that name."""
    return uuid5(SPACE, text)


def session_id(number: int, host: str) -> UUID:
    """Return the session that measured a stack on a host."""
    return name(f"session {number} {host}")


def run_id(number: int, host: str, condition: Condition, *, launch: int = 0) -> UUID:
    """Return the run of a stack in a cell."""
    return name(f"run {session_id(number, host)} {launch} {condition.key}")


def built(number: int) -> datetime:
    """Return when a stack was built and measured."""
    return NOW + timedelta(days=number)


def keep_identities(engine: Engine, of: Made) -> None:
    """Store what was measured, and pin the first stack in all cells."""
    under = [*of.conditions, *of.long]
    dated = [
        StoredStack(stack, "cpu", built(number).date()) for number, stack in enumerate(of.stacks)
    ]
    cells = [Cell(condition.key, PROTOCOL.key) for condition in under]
    with writing(engine) as session:
        conditions.keep(session, under)
        protocols.keep(session, [PROTOCOL])
        stacks.keep(session, dated, now=NOW)
        pins = [Pin("main", cell, of.stacks[0].key, NOW, "ann", "the first") for cell in cells]
        baselines.keep(session, pins)


def copy_runs(connection: psycopg.Connection, of: Made) -> int:
    """Store sessions, jobs, launches, runs and samples; return how many values that is."""
    rows = _Rows([], [], [], [])
    for number in range(STACKS):
        for host, under in of.by_host.items():
            _add_night(rows, of, number, host, under)
        _add_long(rows, of, number)
    for table in COLUMNS:
        copy_rows(connection, table, getattr(rows, table))
    metrics = ((row[0], 1 if row[7] == "h3" else METRIC_COUNT) for row in rows.run)
    return _samples(connection, metrics)  # type: ignore[arg-type]  # a row's columns have their types


def _add_night(rows: _Rows, of: Made, number: int, host: str, under: Sequence[Condition]) -> None:
    """Add a session of a stack on a host: every cell in each of its launches."""
    session, stack = session_id(number, host), of.stacks[number]
    rows.session.append(session_row(session, host, built(number), stack))
    for ordinal in range(LAUNCHES):
        job = name(f"job {session} {ordinal}")
        rows.job.append(job_row((job, session, ordinal), stack, host, under))
        rows.launch.append(launch_row(job, stack, host, built(number)))
        for one in under:
            run = run_id(number, host, one, launch=ordinal)
            rows.run.append(_run(run, (session, job, job), one, stack, host, built(number)))


def _add_long(rows: _Rows, of: Made, number: int) -> None:
    """Add a stack's runs of the two long series; those of the longer are of no session."""
    session, stack = session_id(number, "h3"), of.stacks[number]
    rows.session.append(session_row(session, "h3", built(number), stack))
    for ordinal in range(IN_SESSION):
        at = built(number) + timedelta(minutes=ordinal)
        job = name(f"job {session} {ordinal}")
        rows.job.append(job_row((job, session, ordinal), stack, "h3", of.long[:1]))
        rows.launch.append(launch_row(job, stack, "h3", at))
        run = run_id(number, "h3", of.long[0], launch=ordinal)
        rows.run.append(_run(run, (session, job, job), of.long[0], stack, "h3", at))
    for ordinal in range(LONG[1] // STACKS):
        at = built(number) + timedelta(seconds=ordinal)
        run = run_id(number, "h3", of.long[1], launch=ordinal)
        rows.run.append(_run(run, (None, None, run), of.long[1], stack, "h3", at))


def session_row(
    session: UUID, host: str, at: datetime, stack: Stack, *, finished: bool = True
) -> Row:
    """Return a session of one stack on a host, that is over or under way."""
    content = builders.session_order(arms=(stack,), baseline=None).model_dump(
        mode="json", exclude={"launches", "conditions", "protocols"}
    )
    state, finished_at = ("finished", at) if finished else ("running", None)
    return (session, "nightly", "cpu", "cpu", state, host, None, Jsonb(content), at, finished_at)


def job_row(
    of: tuple[UUID, UUID, int],
    stack: Stack,
    host: str,
    under: Sequence[Condition],
    *,
    state: str = "reported",
) -> Row:
    """Return a job with its cells. of: its id, its session and its place there."""
    launch = Jsonb(builders.launch_order(stack, under).model_dump(mode="json"))
    asked = (*of, state, "cpu", "cpu", 1, stack.key, launch)
    held = (len(under), REPEATS, 1, 1, "r1", str(SPACE), host, None, None, None, NOW, NOW)
    return (*asked, *held)


def launch_row(job: UUID, stack: Stack, host: str, at: datetime) -> Row:
    """Return the launch of a job, under the job's own id."""
    settled = {f"setting_{number}": number for number in range(60)}
    observed = Jsonb(dict(stack.versions))
    told = (observed, Jsonb([]), Jsonb(settled), Jsonb([]), Jsonb([]), None)
    return (job, job, stack.key, host, at, at, 60.0, *told)


def _run(
    run: UUID,
    of: tuple[UUID | None, UUID | None, UUID],
    condition: Condition,
    stack: Stack,
    host: str,
    at: datetime,
) -> Row:
    cell = (condition.key, PROTOCOL.key, stack.key, host, "measured")
    told = (Jsonb(list(range(REPEATS))), Jsonb([1.0] * REPEATS), Jsonb([]), None)
    return (run, *of, *cell, at, at, at, *told)


def _samples(connection: psycopg.Connection, runs: Iterator[tuple[UUID, int]]) -> int:
    """Store a sample for each run and metric, one of some hundred; return how many values."""
    draw = random.Random(1)
    drawn = [_sample(draw) for _ in range(SAMPLES)]
    values = 0
    columns = "run_id, metric, packed, count, median, min, max"
    with connection.cursor().copy(f"COPY sample ({columns}) FROM STDIN") as copy:
        for run, metrics in runs:
            rows = [f"{run}\t{metric}\t{draw.choice(drawn)}\n" for metric in MEASURED[:metrics]]
            copy.write("".join(rows))
            values += len(rows) * REPEATS
    return values


def _sample(draw: random.Random) -> str:
    center = draw.gauss(1, 0.01)
    sample = sorted(draw.gauss(center, 0.01) for _ in range(REPEATS))
    packed = struct.pack(f"<{REPEATS}d", *sample).hex()
    return f"\\\\x{packed}\t{REPEATS}\t{median(sample)}\t{sample[0]}\t{sample[-1]}"


def copy_rows(connection: psycopg.Connection, table: str, rows: Sequence[Row]) -> None:
    """Store rows of a table that has COLUMNS."""
    with connection.cursor().copy(f"COPY {table} ({COLUMNS[table]}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
