"""The production shape survives its parts: PostgreSQL, Redis, two API workers and real SGLang.

Everything is killed or stopped once in mid-run, and the plan still ends with exactly its repeats.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from service.client import Client, ServiceAwayError
from service.formats.sessions import JobRead, SessionRead
from tests.e2e.production import ROOT, Stage, gone, service_client, wait_until
from tests.e2e.slowed import sooner_stack
from tests.integration.databases import (
    NOBODY,
    free_port,
    initialise,
    postgres_command,
    postgres_programs,
    redis_program,
    wait_for_port,
    wait_for_postgres,
)

pytestmark = [
    pytest.mark.sglang,
    pytest.mark.postgres,
    pytest.mark.redis,
    pytest.mark.timeout(2400),
]

OUTAGE_S = 5.0
PLAN_LIMIT_S = 1800.0
LAUNCHES, CELLS, REPEATS = 1, 2, 3
STACK = "cpu-sglang-0.5.23"
PLAN = f"""
name: outages
pool: local
cards: {{chip: cpu, model: core, form: shared, occupancy: packed}}
model: tiny-llama
client: sglang-0.5.23
stacks: [{STACK}]
launches: {LAUNCHES}
repeats: {REPEATS}
policy: {{min_repeats: 2}}
cells:
  - workload: tiny-short
    concurrency: [1, 4]
    why: Long enough for something to go wrong in the middle.
"""


class Site(Stage):
    """A whole site: database, broker, API, worker, scheduler and one runner."""

    def __init__(self, folder: Path) -> None:
        self.api_port, self.redis_port, self.postgres_port = free_port(), free_port(), free_port()
        self.data = Path(tempfile.mkdtemp(prefix="kunline-e2e-"))
        if os.getuid() == 0:
            os.chown(self.data, NOBODY, NOBODY)
        self.postgres_url = f"postgresql://postgres@127.0.0.1:{self.postgres_port}/postgres"
        super().__init__(
            folder,
            {
                "KUNLINE_DATABASE_URL": self.postgres_url,
                "KUNLINE_BROKER_URL": f"redis://127.0.0.1:{self.redis_port}/0",
                "KUNLINE_DATA_DIR": str(folder / "data"),
                "KUNLINE_PORT": str(self.api_port),
                "KUNLINE_URL": f"http://127.0.0.1:{self.api_port}",
                "KUNLINE_SPOOL_DIR": str(folder / "spool"),
                "KUNLINE_LOCK_DIR": str(folder / "locks"),
                "KUNLINE_LEASE_S": "20",
                "KUNLINE_RENEW_S": "5",
            },
        )

    def open(self) -> None:
        """Start everything, in the order in which each finds what it needs."""
        initialise(postgres_programs(), self.data / "cluster")
        self.start_postgres()
        self.start_redis()
        self.module("api", "service.api", "--migrate", "--workers", "2")
        self.module("worker", "service.tasks.worker")
        self.module("scheduler", "service.tasks.scheduler")
        self.module("runner", "runners.worker")

    def start_postgres(self) -> None:
        """Start the database server."""
        command = postgres_command(
            postgres_programs(), self.data / "cluster", self.postgres_port, ()
        )
        self.start("postgres", *command)
        wait_for_postgres(self.running["postgres"], self.postgres_url)

    def start_redis(self) -> None:
        """Start the broker; it keeps nothing over a stop, as a message is worth nothing."""
        options = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        self.start("redis", redis_program(), "--port", str(self.redis_port), *options)
        wait_for_port(self.redis_port)

    def stop_postgres(self) -> None:
        """End the database server as an operator does, whoever is connected."""
        process = self.running.pop("postgres")
        process.send_signal(signal.SIGINT)
        process.wait(30)

    def close(self) -> None:
        """End everything."""
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    found = Site(tmp_path)
    try:
        found.open()
        yield found
    finally:
        found.close()


def test_whatever_dies_in_mid_run_the_plan_ends_with_exactly_its_repeats(
    site: Site, tmp_path: Path
) -> None:
    with service_client(site.api_port) as client:
        session_id = _submitted(site, tmp_path)

        _measuring(site, client, session_id, attempt=1)
        family = site.kill("runner")
        wait_until(lambda: gone(family), 30, "nothing of the killed runner is left")
        site.module("runner", "runners.worker")
        _measuring(site, client, session_id, attempt=2)
        site.end("redis")
        time.sleep(OUTAGE_S)
        site.start_redis()
        site.kill("worker")
        site.module("worker", "service.tasks.worker")
        _measuring(site, client, session_id, attempt=2)
        site.stop_postgres()
        time.sleep(OUTAGE_S)
        site.start_postgres()
        session = _finished(site, client, session_id)

        assert [job.state for job in session.jobs] == ["reported"] * LAUNCHES
        assert session.jobs[0].attempt == 2
        _every_cell_has_exactly_its_repeats(client, session)
    runner = site.running["runner"]
    site.end("runner")

    assert runner.returncode == 0


def _submitted(site: Site, folder: Path) -> UUID:
    plan = folder / "outages.yaml"
    plan.write_text(PLAN)
    matrix = folder / "matrix"
    shutil.copytree(ROOT / "matrix", matrix)
    sooner_stack(matrix, STACK)
    command = ("run", str(plan), "--matrix", str(matrix), "--detach")
    answered = subprocess.run(
        [sys.executable, "-m", "service.cli", *command],
        env={**os.environ, **site.environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return UUID(answered.stdout.strip())


def _measuring(site: Site, client: Client, session_id: UUID, *, attempt: int) -> None:
    """Return once the launch is in the middle of its repeats, at this attempt."""

    def in_the_middle() -> bool:
        [job] = _session(client, session_id).jobs
        assert site.running["runner"].poll() is None, site.log("runner")
        assert job.broken is None, job.broken
        assert job.state != "reported", "the launch was over before anything went wrong"
        return job.state == "claimed" and job.attempt == attempt and _measured_share(job) > 0

    wait_until(in_the_middle, 900, f"the launch is being measured at attempt {attempt}")


def _measured_share(job: JobRead) -> float:
    if job.progress is None or job.progress.phase != "measure":
        return 0.0
    return job.progress.fraction or 0.0


def _finished(site: Site, client: Client, session_id: UUID) -> SessionRead:
    wait_until(
        lambda: _session(client, session_id).state == "finished",
        PLAN_LIMIT_S,
        f"the session is finished; the runner's log ends with {site.log('runner')[-3000:]}",
    )
    return _session(client, session_id)


def _session(client: Client, session_id: UUID) -> SessionRead:
    for _ in range(20):
        try:
            return client.session(session_id)
        except ServiceAwayError:
            time.sleep(1)
    return client.session(session_id)


def _every_cell_has_exactly_its_repeats(client: Client, session: SessionRead) -> None:
    runs = client.runs(session_id=session.id).runs
    measured = sorted((run.job_id, run.condition_key) for run in runs if run.job_id)

    assert len(measured) == len(set(measured)) == LAUNCHES * CELLS
    assert {run.state for run in runs} == {"measured"}
    for run in runs:
        detail = client.run(run.id)
        assert sorted(detail.seeds) == sorted(set(detail.seeds))
        assert len(detail.seeds) == REPEATS
        assert {len(values) for values in detail.values.values()} == {REPEATS}
