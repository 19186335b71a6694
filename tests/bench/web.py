"""How fast the pages' questions are answered where there are ten million values.

PostgreSQL is filled with 1,000 cells on two hosts, 25 stacks of two launches each, 20 metrics of
10 repeats a run, one cell with a series of 500 runs and one with 100,000. One API process answers
over HTTP. What a page waits for is the whole answer, so that is what is timed; `first` is the one
question before which nobody had judged anything. `cpu` is what an answer costs the service and its
database, however busy the machine is. With --stay it serves on until Ctrl-C.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles
from uuid import UUID, uuid5

import httpx
import psycopg
from psycopg.types.json import Jsonb
from sqlalchemy import Engine

from service.domain.baseline import Pin
from service.domain.cell import Cell
from service.domain.condition import Condition
from service.domain.incident import Answer, Direction, Incident, IncidentCell, Triage
from service.domain.metric import METRICS
from service.domain.stack import Stack
from service.store import baselines, conditions, incidents, protocols, schema, stacks
from service.store.database import create_database, writing
from service.store.stacks import StoredStack
from tests.integration import builders
from tests.integration.builders import NOW, PROTOCOL
from tests.integration.databases import free_port, postgres, wait_for_port

CELLS = 1000
STACKS = 25
LAUNCHES = 2
METRIC_COUNT = 20
REPEATS = 10
LONG = (500, 100_000)
SAMPLES = 500
INCIDENTS, INCIDENT_CELLS = 500, 200
ASKED = 20
TIMEOUT_S = 300
SPACE = UUID(int=1)
NAMES = [*list(METRICS)[:5], "tpot_p50", "output_throughput"]
MEASURED = tuple(dict.fromkeys([*NAMES, *METRICS]))[:METRIC_COUNT]
RUN = (
    "id, session_id, job_id, launch_id, condition_key, protocol_key, stack_key, host, state, "
    "measured_at, finished_at, stored_at, seeds, overhead_s, findings, broken"
)
JOB = (
    "id, session_id, ordinal, state, pool, chip, cards, stack_key, launch, cells, repeats, "
    "attempt, fencing_token, runner, incarnation, host, lease_until, progress, broken, "
    "announced_at, finished_at"
)
LAUNCH = (
    "id, job_id, stack_key, host, started_at, stopped_at, start_up_s, observed, drift, "
    "resolution, preflight, answer, broken"
)
SESSION = "id, plan, pool, chip, state, host, baseline_stack_key, content, created_at, finished_at"


@dataclass(frozen=True, slots=True)
class Filled:
    """What lies in the database. run_id: one that was measured."""

    stacks: Sequence[Stack]
    conditions: Sequence[Condition]
    long: Sequence[Condition]
    run_id: UUID
    session_id: UUID
    values: int


@dataclass(frozen=True, slots=True)
class Question:
    """What a page asks, and the most that 95 of 100 answers may take, in milliseconds."""

    name: str
    path: str
    wanted_ms: float


@dataclass(frozen=True, slots=True)
class Serving:
    """A service that answers, its process, and its database."""

    address: str
    pid: int
    url: str

    def cpu_s(self) -> float:
        """Return the processor time that the service and its database's processes have taken."""
        with psycopg.connect(self.url) as connection:
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid()"
            ).fetchall()
        return sum(_cpu_s(pid) for pid in (self.pid, *(row[0] for row in found)))


def main() -> int:
    """Fill, ask, print, and return 0 where every answer came in time."""
    with postgres(settings=("shared_buffers=256MB",)) as cluster:
        url = cluster.url_of(cluster.create())
        began = time.perf_counter()
        filled = _fill(url)
        sys.stdout.write(f"{filled.values:,} values in {time.perf_counter() - began:.0f} s\n")
        with tempfile.TemporaryDirectory() as place, _serving(url, Path(place)) as service:
            address = service.address
            late = [question for question in _questions(filled) if not _asked(service, question)]
            if "--stay" in sys.argv:
                sys.stdout.write(f"serving at {address}\n")
                sys.stdout.flush()
                _stay()
    return 1 if late else 0


def _questions(filled: Filled) -> list[Question]:
    base, new = filled.stacks[0].key, filled.stacks[-1].key
    many = "&".join(f"stack={stack.key}" for stack in filled.stacks[-10:])
    protocol = PROTOCOL.key
    evidence = f"stack_key={new}&condition_key={filled.conditions[0].key}"
    job = _id(f"job {_id(f'session {STACKS - 1} h1')} 0")
    other = _id(f"run {job} {filled.conditions[0].key} 0")

    def series(of: Condition) -> str:
        return f"condition_key={of.key}&protocol_key={protocol}&metric=ttft_p50"

    return [
        Question("overview", "/overview", 150),
        Question("matrix, 1,000 cells × 3 metrics", f"/matrix?stack={new}", 300),
        Question("matrix, 300 cells × 10 stacks", f"/matrix?{many}&metric=ttft_p50", 600),
        Question("matrix, 100 cells", f"/matrix?stack={new}&limit=100", 150),
        Question("two stacks, 1,000 cells", f"/matrix?stack={new}&baseline={base}", 300),
        Question("series of a cell", f"/series?{series(filled.conditions[0])}", 50),
        Question("series of 500 runs", f"/series?{series(filled.long[0])}&limit=500", 50),
        Question("500 of 100,000 runs", f"/series?{series(filled.long[1])}&limit=500", 150),
        Question("outline of 100,000 runs", f"/series/outline?{series(filled.long[1])}", 3000),
        Question("incidents, open", "/incidents?is_open=true&limit=12", 150),
        Question("incident of 200 metrics", f"/incidents/{_id('incident 0')}", 150),
        Question("record of incidents", "/incidents/record", 150),
        Question("evidence of a cell", f"/runs?{evidence}&limit=100", 150),
        Question(
            "two runs compared", f"/comparisons?baseline={filled.run_id}&candidate={other}", 150
        ),
        Question("two stacks compared", f"/comparisons?baseline={base}&candidate={new}", 150),
        Question("verdicts of a session", f"/sessions/{filled.session_id}/verdicts", 150),
        Question("curves of two stacks", f"/curves?stack={base}&stack={new}", 150),
        Question("scaling of a stack", f"/scaling?stack={new}", 150),
        Question("changes", "/events?limit=100", 150),
        Question("gates", "/gates", 150),
        Question("compatibility", "/compat", 150),
        Question("schedules", "/schedules", 150),
        Question("tokens", "/tokens", 150),
        Question("run", f"/runs/{filled.run_id}", 150),
        Question("launch", f"/launches/{_id(f'job {filled.session_id} 0')}", 150),
        Question("runs", "/runs?limit=50", 150),
        Question("sessions", "/sessions?limit=20", 150),
        Question("session", f"/sessions/{filled.session_id}", 150),
        Question("baselines", "/baselines", 150),
        Question("stacks", "/stacks", 150),
        Question("what differs", f"/stacks/{base}/diff/{new}", 150),
        Question("runners", "/runners", 150),
        Question("metrics", "/metrics", 150),
    ]


def _asked(service: Serving, question: Question) -> bool:
    """Ask a question again and again, print how long it took, and return whether it was in time."""
    with httpx.Client(base_url=f"{service.address}/api/v1", timeout=TIMEOUT_S) as client:
        first = _timed(client, question.path)
        count = ASKED if first < 1 else ASKED // 2
        before = service.cpu_s()
        times = [_timed(client, question.path) for _ in range(count)]
        cpu = (service.cpu_s() - before) / count
    middle, late = median(times) * 1000, quantiles(times, n=20)[-1] * 1000
    sys.stdout.write(
        f"{question.name:32} p50 {middle:7.1f} ms  p95 {late:7.1f} ms  "
        f"(at most {question.wanted_ms:.0f})  cpu {cpu * 1000:7.1f} ms  "
        f"first {first * 1000:7.1f} ms\n"
    )
    sys.stdout.flush()
    return late <= question.wanted_ms


def _timed(client: httpx.Client, path: str) -> float:
    began = time.perf_counter()
    answer = client.get(path)
    took = time.perf_counter() - began
    answer.raise_for_status()
    return took


def _fill(url: str) -> Filled:
    engine = create_database(url, connections=2)
    schema.upgrade(engine)
    filled = _identities(engine)
    _incidents(engine, filled)
    engine.dispose()
    draw = random.Random(1)
    with psycopg.connect(url) as connection:
        runs = _runs(connection, filled)
        values = _samples(connection, runs, draw)
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE")
    return Filled(
        filled.stacks, filled.conditions, filled.long, runs[0][0], _id("session 0 h1"), values
    )


def _identities(engine: Engine) -> Filled:
    found = [builders.stack(f"0.5.{number}") for number in range(STACKS)]
    under = [builders.condition(concurrency=number + 1) for number in range(CELLS)]
    long = [builders.condition(concurrency=CELLS + number + 1) for number in range(len(LONG))]
    dated = [
        StoredStack(stack, "cpu", NOW.date() + timedelta(days=number))
        for number, stack in enumerate(found)
    ]
    cells = [Cell(condition.key, PROTOCOL.key) for condition in (*under, *long)]
    with writing(engine) as session:
        conditions.keep(session, [*under, *long])
        protocols.keep(session, [PROTOCOL])
        stacks.keep(session, dated, now=NOW)
        pins = [Pin("main", cell, found[0].key, NOW, "ann", "the first") for cell in cells]
        baselines.keep(session, pins)
    return Filled(found, under, long, SPACE, SPACE, 0)


def _incidents(engine: Engine, filled: Filled) -> None:
    """Open incidents, one a stack, each of two hundred metrics of cells; some are answered."""
    base = filled.stacks[0].key
    with writing(engine) as session:
        for number in range(INCIDENTS):
            at = NOW + timedelta(hours=number)
            triage = Triage.OPEN if number % 10 == 0 else Triage.NOISE
            incident = Incident(
                id=_id(f"incident {number}"),
                title="ttft_p50 worse",
                direction=Direction.WORSE,
                baseline_stack_key=base,
                candidate_stack_key=filled.stacks[1 + number % (STACKS - 1)].key,
                opened_at=at,
                opened_by="kunline",
                seen_at=at,
                answer=Answer(triage),
                triaged_at=None if triage is Triage.OPEN else at,
            )
            under = filled.conditions[number : number + INCIDENT_CELLS]
            cells = [Cell(condition.key, PROTOCOL.key) for condition in under]
            moved = [IncidentCell(cell, "ttft_p50", 0.05, 0.04, 0.06) for cell in cells]
            incidents.keep(session, incident, moved)


def _runs(connection: psycopg.Connection, filled: Filled) -> list[tuple[UUID, int]]:
    """Store sessions, jobs, launches and runs; return the runs' ids, and how many metrics each."""
    halves = {"h1": filled.conditions[::2], "h2": filled.conditions[1::2]}
    sessions, jobs, launches, runs = [], [], [], []
    for number, stack in enumerate(filled.stacks):
        at = NOW + timedelta(days=number)
        for host, under in halves.items():
            session = _id(f"session {number} {host}")
            sessions.append(_session(session, host, at, stack))
            for ordinal in range(LAUNCHES):
                job = _id(f"job {session} {ordinal}")
                jobs.append(_job(job, session, ordinal, stack, under))
                launches.append(_launch(job, stack, host, at))
                runs += [_run(job, session, one, stack, host, at) for one in under]
    for condition, length in zip(filled.long, LONG, strict=True):
        for number in range(length):
            stack = filled.stacks[number * STACKS // length]
            at = NOW + timedelta(minutes=number)
            runs.append(_run(None, None, condition, stack, "h3", at, number))
    _copy(connection, "session", SESSION, sessions)
    _copy(connection, "job", JOB, jobs)
    _copy(connection, "launch", LAUNCH, launches)
    _copy(connection, "run", RUN, runs)
    long = {condition.key for condition in filled.long}
    return [(row[0], 1 if row[4] in long else METRIC_COUNT) for row in runs]  # type: ignore[misc]  # a row's columns have their types


def _session(session: UUID, host: str, at: object, stack: Stack) -> tuple[object, ...]:
    content = builders.session_order(arms=(stack,), baseline=None).model_dump(
        mode="json", exclude={"launches", "conditions", "protocols"}
    )
    return (session, "nightly", "cpu", "cpu", "finished", host, None, Jsonb(content), at, at)


def _job(
    job: UUID, session: UUID, ordinal: int, stack: Stack, under: Sequence[Condition]
) -> tuple[object, ...]:
    launch = Jsonb(builders.launch_order(stack, under).model_dump(mode="json"))
    asked = (job, session, ordinal, "reported", "cpu", "cpu", 1, stack.key, launch)
    held = (len(under), REPEATS, 1, 1, "r1", str(SPACE), "h1", None, None, None, NOW, NOW)
    return (*asked, *held)


def _launch(job: UUID, stack: Stack, host: str, at: object) -> tuple[object, ...]:
    settled = {f"setting_{number}": number for number in range(60)}
    observed = Jsonb(dict(stack.versions))
    told = (observed, Jsonb([]), Jsonb(settled), Jsonb([]), Jsonb([]), None)
    return (job, job, stack.key, host, at, at, 60.0, *told)


def _run(
    job: UUID | None,
    session: UUID | None,
    condition: Condition,
    stack: Stack,
    host: str,
    at: object,
    number: int = 0,
) -> tuple[object, ...]:
    run = _id(f"run {job} {condition.key} {number}")
    cell = (condition.key, PROTOCOL.key, stack.key, host, "measured")
    told = (Jsonb(list(range(REPEATS))), Jsonb([1.0] * REPEATS), Jsonb([]), None)
    return (run, session, job, job or run, *cell, at, at, at, *told)


def _samples(
    connection: psycopg.Connection, runs: Sequence[tuple[UUID, int]], draw: random.Random
) -> int:
    """Store a sample for each run and metric, one of some hundred; return how many values."""
    drawn = [_sample(draw) for _ in range(SAMPLES)]
    values = 0
    columns = "run_id, metric, packed, count, median, min, max"
    with connection.cursor().copy(f"COPY sample ({columns}) FROM STDIN") as copy:
        for run, metrics in runs:
            rows = [f"{run}\t{name}\t{draw.choice(drawn)}\n" for name in MEASURED[:metrics]]
            copy.write("".join(rows))
            values += len(rows) * REPEATS
    return values


def _sample(draw: random.Random) -> str:
    center = draw.gauss(1, 0.01)
    sample = sorted(draw.gauss(center, 0.01) for _ in range(REPEATS))
    packed = struct.pack(f"<{REPEATS}d", *sample).hex()
    return f"\\\\x{packed}\t{REPEATS}\t{median(sample)}\t{sample[0]}\t{sample[-1]}"


def _copy(
    connection: psycopg.Connection, table: str, columns: str, rows: Sequence[tuple[object, ...]]
) -> None:
    with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _id(text: str) -> UUID:
    return uuid5(SPACE, text)


def _cpu_s(pid: int) -> float:
    """Return a process's own time; user and system are the 14th and 15th words of its stat."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _serving(url: str, place: Path) -> Iterator[Serving]:
    port = free_port()
    environment = {
        **os.environ,
        "KUNLINE_DATABASE_URL": url,
        "KUNLINE_DATA_DIR": str(place),
        "KUNLINE_PORT": str(port),
    }
    server = subprocess.Popen([sys.executable, "-m", "service.api"], env=environment)
    try:
        wait_for_port(port)
        yield Serving(f"http://127.0.0.1:{port}", server.pid, url)
    finally:
        server.terminate()
        server.wait(TIMEOUT_S)


def _stay() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    sys.exit(main())
