"""How fast runs are stored, beside what the database itself does with the same statements.

One run is 30 metrics of 20 repeats and its tool's text of 40 kB. PostgreSQL flushes every commit;
two API processes take reports over HTTP from eight clients at once. Then pgbench sends the same
statement, with a payload of the same size, to the same server: one run a transaction, where the
service stores what reaches a process at one time in one. Both are measured in turn, twice, in one
run; the ratio of the medians is what counts.
"""

import os
import random
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from uuid import uuid4

from sqlalchemy import Engine, text

from service.domain.metric import METRICS
from service.formats.orders import JobOrder
from service.formats.reports import RunReport
from service.store import schema
from service.store.database import create_database, writing
from service.store.whole_runs import ALL_AT_ONCE, parameters
from service.usecases.report_run import whole_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW
from tests.integration.databases import (
    Cluster,
    free_port,
    postgres,
    postgres_programs,
    wait_for_port,
)

METRIC_COUNT = 30
REPEATS = 20
TEXT_BYTES = 40_000
CLIENTS = 8
WORKERS = 2
CELLS = 20
WARM_UP = 50
RUNS = 1500
ROUNDS = 2
PGBENCH_S = 6
WANTED_RATIO = 0.5
# pgbench stores one cell again and again, so for both the one constraint against that is replaced
# by an index that costs as much and refuses nothing.
LET_AGAIN = (
    "ALTER TABLE run DROP CONSTRAINT uq_run_job_id_condition_key_protocol_key",
    "CREATE UNIQUE INDEX again ON run (job_id, condition_key, protocol_key, id)",
)
TIMEOUT_S = 60
ANSWER_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Rates:
    """Runs stored a second, one number a round."""

    service: tuple[float, ...]
    database: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The service's median over the database's."""
        return median(self.service) / median(self.database)


def main() -> int:
    """Measure, print the figures, and return 0 where the ratio is what is wanted."""
    with postgres(settings=()) as cluster, tempfile.TemporaryDirectory() as place:
        rates = _measure(cluster, Path(place))
    for name, found in (("service", rates.service), ("pgbench", rates.database)):
        shown = ", ".join(f"{rate:.0f}" for rate in found)
        sys.stdout.write(f"{name}: {median(found):.0f} runs/s ({shown})\n")
    sys.stdout.write(f"ratio: {rates.ratio:.2f} (wanted: at least {WANTED_RATIO})\n")
    return 0 if rates.ratio >= WANTED_RATIO else 1


def _measure(cluster: Cluster, place: Path) -> Rates:
    url = cluster.url_of(cluster.create())
    engine = create_database(url)
    schema.upgrade(engine)
    with writing(engine) as session:
        for statement in LET_AGAIN:
            session.execute(text(statement))
    reports = _reports(engine)
    sample = next(reports)
    service, database = [], []
    with _serving(url, place) as port, _connected(port, reports) as connections:
        for _ in range(ROUNDS):
            database.append(_pgbench(url, place, sample))
            service.append(_send(connections, list(islice(reports, RUNS))))
    engine.dispose()
    return Rates(tuple(service), tuple(database))


def _reports(engine: Engine) -> Iterator[RunReport]:
    """Yield reports of claimed jobs, one for each of their cells, without end."""
    draw = random.Random(1)
    texts = [
        " ".join(repr(draw.random()) for _ in range(TEXT_BYTES // 19)).encode() for _ in range(8)
    ]
    conditions = [builders.condition(concurrency=number + 1) for number in range(CELLS)]
    session = builders.session_order(arms=(NEW,), conditions=conditions, baseline=None)
    while True:
        path.submit(engine, session, uuid4().hex)
        order = path.claimed(engine, builders.claim(uuid4().hex, host=uuid4().hex))
        for cell in range(CELLS):
            yield _report(order, cell, draw, texts)


def _report(order: JobOrder, cell: int, draw: random.Random, texts: Sequence[bytes]) -> RunReport:
    # Of a size that compresses like a tool's own lines, and unlike any other report's.
    text = f"{uuid4()} ".encode() + draw.choice(texts)
    values = {
        name: tuple(draw.uniform(0.5, 1.5) for _ in range(REPEATS))
        for name in list(METRICS)[:METRIC_COUNT]
    }
    measured = {"seeds": tuple(range(REPEATS)), "values": values, "overhead_s": (1.0,) * REPEATS}
    sent = builders.run_report(order, cell=cell, launch_id=order.job_id, text=text)
    return sent.model_copy(update=measured)


@contextmanager
def _serving(url: str, place: Path) -> Iterator[int]:
    port = free_port()
    environment = {
        **os.environ,
        "KUNLINE_DATABASE_URL": url,
        "KUNLINE_DATA_DIR": str(place),
        "KUNLINE_PORT": str(port),
        "KUNLINE_WORKERS": str(WORKERS),
    }
    server = subprocess.Popen([sys.executable, "-m", "service.api"], env=environment)
    try:
        wait_for_port(port)
        yield port
    finally:
        server.terminate()
        server.wait(TIMEOUT_S)


@contextmanager
def _connected(port: int, reports: Iterator[RunReport]) -> Iterator[list[socket.socket]]:
    """Connect the clients as runners would: one after the other, while the others are at work.

    All at once they might all be taken by one of the two processes.
    """
    connections: list[socket.socket] = []
    try:
        for _ in range(CLIENTS):
            connections.append(socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S))
            _send(connections, list(islice(reports, WARM_UP)))
        yield connections
    finally:
        for connection in connections:
            connection.close()


def _send(connections: Sequence[socket.socket], reports: Sequence[RunReport]) -> float:
    """Send reports over all connections at once and return how many were stored a second.

    Each connection sends the next one as soon as its last was answered, until none is left, as
    pgbench's clients do. One thread tends them all: eight would wait for each other.
    """
    requests = iter([_request(report) for report in reports])
    began = time.perf_counter()
    with selectors.DefaultSelector() as answered:
        for connection, request in zip(connections, requests, strict=False):
            answered.register(connection, selectors.EVENT_READ, connection)
            connection.sendall(request)
        while answered.get_map():
            if not (found := answered.select(TIMEOUT_S)):
                raise TimeoutError(f"nothing was answered for {TIMEOUT_S} s")
            for ready, _ in found:
                _require_stored(ready.data)
                if (following := next(requests, None)) is None:
                    answered.unregister(ready.data)
                else:
                    ready.data.sendall(following)
    return len(reports) / (time.perf_counter() - began)


def _require_stored(connection: socket.socket) -> None:
    answer = connection.recv(ANSWER_BYTES)
    while b"}" not in answer and (more := connection.recv(ANSWER_BYTES)):
        answer += more
    if b'"stored":true' not in answer:
        raise RuntimeError(f"not stored: {answer!r}")


def _request(report: RunReport) -> bytes:
    """Return a report as it goes over the wire.

    No HTTP library sends it: that would take a good part of the time that is being measured.
    """
    body = report.model_dump_json().encode()
    head = (
        f"PUT /api/v1/runs/{report.run_id} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _pgbench(url: str, place: Path, report: RunReport) -> float:
    """Return the transactions a second that pgbench reaches with what stores a report.

    The statement and its two parameters are the service's own; only the run's id and its
    artefact's digest are numbers that differ each time. All runs are of one cell.
    """
    sent = parameters([whole_run(report, NOW)])
    digest = report.artefacts[0].digest
    told = str(sent["sent"]).replace(str(report.run_id), "RUN_ID").replace(digest, "DIGEST")
    fresh = ":sent"
    for word, length in (("RUN_ID", 32), ("DIGEST", 64)):
        fresh = f"replace({fresh}, '{word}', lpad(to_hex(CAST(:number AS bigint)), {length}, '0'))"
    script = place / "ingest.sql"
    script.write_text(
        "\\set number random(1, 9000000000000000000)\n"
        f"BEGIN;\n{str(ALL_AT_ONCE).replace(':sent', fresh)};\nCOMMIT;\n"
    )
    found = subprocess.run(
        [
            str(postgres_programs() / "pgbench"),
            *("--no-vacuum", "--client", str(CLIENTS), "--jobs", str(WORKERS)),
            *("--time", str(PGBENCH_S), "--protocol", "prepared", "--file", str(script)),
            *("--define", f"sent={told}", "--define", f"bytes=\\x{sent['bytes'].hex()}", url),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    if found.returncode != 0:
        raise RuntimeError(found.stderr)
    line = next(line for line in found.stdout.splitlines() if line.startswith("tps = "))
    return float(line.split()[2])


if __name__ == "__main__":
    sys.exit(main())
