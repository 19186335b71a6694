"""How fast runs are stored, beside what the database itself does with the same statements.

One run is 30 metrics of 20 repeats and its tool's text of 40 kB. PostgreSQL flushes every commit;
two API processes take reports over HTTP from eight clients at once. Then pgbench sends the same
statements, with payloads of the same size, to the same server. Both are measured in turn, twice,
in one run; the ratio of the medians is what counts.
"""

import http.client
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from uuid import uuid4

from sqlalchemy import Engine

from service.domain.metric import METRICS
from service.formats.orders import JobOrder
from service.formats.reports import RunReport
from service.store import schema
from service.store.database import create_database
from service.store.samples import document, sample_row
from tests.integration import builders, path
from tests.integration.builders import NEW
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
WARM_UP = 100
RUNS = 600
ROUNDS = 2
PGBENCH_S = 6
WANTED_RATIO = 0.5
TIMEOUT_S = 60


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
    reports = _reports(engine)
    script = _script(place, next(reports))
    service, database = [], []
    with _serving(url, place) as port:
        _send(port, list(islice(reports, WARM_UP)))
        for _ in range(ROUNDS):
            database.append(_pgbench(url, script))
            service.append(_send(port, list(islice(reports, RUNS))))
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


def _send(port: int, reports: Sequence[RunReport]) -> float:
    """Send reports from all clients at once and return how many were stored a second."""
    bodies = [(str(report.run_id), report.model_dump_json().encode()) for report in reports]
    shares = [bodies[client::CLIENTS] for client in range(CLIENTS)]
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        sent = sum(pool.map(lambda share: _client(port, share), shares))
    return sent / (time.perf_counter() - began)


def _client(port: int, bodies: Sequence[tuple[str, bytes]]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    for run_id, body in bodies:
        headers = {"Content-Type": "application/json"}
        connection.request("PUT", f"/api/v1/runs/{run_id}", body, headers)
        answer = connection.getresponse()
        told = answer.read()
        if b'"stored":true' not in told:
            raise RuntimeError(f"not stored: {answer.status} {told[:200]!r}")
    connection.close()
    return len(bodies)


def _pgbench(url: str, script: Path) -> float:
    """Return the transactions a second that pgbench reaches with a script."""
    found = subprocess.run(
        [
            str(postgres_programs() / "pgbench"),
            *("--no-vacuum", "--client", str(CLIENTS), "--jobs", str(WORKERS)),
            *("--time", str(PGBENCH_S), "--protocol", "prepared", "--file", str(script), url),
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


def _script(place: Path, report: RunReport) -> Path:
    """Write the statements of one report, as the service sends them, for pgbench."""
    zstd = report.artefacts[0].zstd.hex()
    seeds = str(list(report.seeds))
    overhead = str(list(report.overhead_s))
    rows = document(
        [sample_row(report.run_id, metric, sample) for metric, sample in report.values.items()]
    ).replace(str(report.run_id), "RUN")
    script = place / "ingest.sql"
    script.write_text(
        f"""BEGIN;
SELECT gen_random_uuid()::text AS run, md5(random()::text) || md5(random()::text) AS digest,
 session_id, stack_key, host, fencing_token, launch->'cells' AS cells
 FROM job WHERE id = '{report.job_id}'
 \\gset
INSERT INTO run (id, session_id, job_id, launch_id, condition_key, protocol_key, stack_key, host,
 state, measured_at, finished_at, stored_at, seeds, overhead_s, findings, broken) VALUES (
 CAST(:run AS uuid), CAST(:session_id AS uuid), NULL, '{report.launch_id}', '{report.condition_key}',
 '{report.protocol_key}', :stack_key, :host, 'measured', now(), now(), now(),
 '{seeds}', '{overhead}', '[]', NULL) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO sample (run_id, metric, packed, count, median, min, max)
 SELECT run_id, metric, decode(packed, 'hex'), count, median, min, max
 FROM jsonb_to_recordset(CAST(replace('{rows}', 'RUN', :run) AS jsonb)) AS sent(
 run_id uuid, metric text, packed text, count int, median float8, min float8, max float8);
INSERT INTO artefact (digest, size_bytes, zstd, stored_at) VALUES
 (:digest, {TEXT_BYTES}, decode('{zstd}', 'hex'), now()) ON CONFLICT DO NOTHING;
INSERT INTO held_artefact (holder_id, name, digest, media_type) VALUES
 (CAST(:run AS uuid), 'tool.txt', :digest, 'text/plain') ON CONFLICT DO NOTHING;
COMMIT;
"""  # noqa: S608 — a benchmark's own values
    )
    return script


if __name__ == "__main__":
    sys.exit(main())
