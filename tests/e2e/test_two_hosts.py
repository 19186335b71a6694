"""Two runner hosts in network namespaces, one Redis, one PostgreSQL: one is killed, one cut off.

The servers on the hosts only stand there (tests/e2e/standing_runner.py); all else is the product.
KUNLINE_TEST_CUT_S=60 cuts the second host off for a minute, with the leases of a real site.
"""

import os
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from sqlalchemy import Engine, func, select

from service.domain.token import Scope
from service.store import schema
from service.store.database import create_database, reading, writing
from service.store.samples import of_runs
from service.store.tables import CardLeaseRow, LaunchRow, RunRow
from service.usecases.issue_token import issue_token
from tests.e2e.namespaces import NetworkHost, network_host, obstacle
from tests.e2e.production import Stage, gone, wait_until
from tests.e2e.standing_runner import FOLDER, PROMPTS, REPEAT_S
from tests.integration import builders, path
from tests.integration.databases import free_port, postgres, redis_program, wait_for_port

WHY_NOT = obstacle()
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.redis,
    pytest.mark.timeout(400),
    # A machine may forbid network namespaces, and no host can be made on it then.
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT),  # the reason says what it forbids
]

CUT_S = float(os.environ.get("KUNLINE_TEST_CUT_S", "12"))
# Shorter than the cut, so that the job of whoever is cut off is lost meanwhile.
LEASE_S = CUT_S * 0.5
LIMIT_S = 120.0 + 2 * CUT_S
SESSIONS, LAUNCHES = 4, 2
# Each of its three repeats lasts as long as a lease.
SOAK_PROMPTS = int(PROMPTS * LEASE_S / REPEAT_S)
SOAK = replace(
    builders.condition(), traffic=replace(builders.condition().traffic, prompts=SOAK_PROMPTS)
)
CONDITIONS = [builders.condition(concurrency=1), builders.condition(concurrency=4)]


class Site(Stage):
    """The service on this host, and a runner on each of two others."""

    def __init__(self, folder: Path, database_url: str, hosts: Sequence[NetworkHost]) -> None:
        self.api_port, self.redis_port = free_port(), free_port()
        self.hosts = {"a": hosts[0], "b": hosts[1]}
        near = ",".join(host.near for host in hosts)
        super().__init__(
            folder,
            {
                "KUNLINE_DATABASE_URL": database_url,
                "KUNLINE_BROKER_URL": f"redis://127.0.0.1:{self.redis_port}/0",
                "KUNLINE_DATA_DIR": str(folder / "data"),
                "KUNLINE_HOST": "0.0.0.0",  # noqa: S104 — this side's ends of the links
                "KUNLINE_PORT": str(self.api_port),
                "KUNLINE_ALLOWED_HOSTS": near,
                "KUNLINE_LEASE_S": f"{LEASE_S}",
                "KUNLINE_SWEEP_EVERY_S": "1",
                "KUNLINE_LOCK_DIR": str(folder / "locks"),
                "KUNLINE_SPOOL_DIR": str(folder / "spool"),
                "KUNLINE_POOL": "cpu",
                "KUNLINE_CARDS": "1",
                "KUNLINE_RENEW_S": "1",
                "KUNLINE_POLL_S": "1",
                FOLDER: str(folder),
            },
        )

    def open(self, token: str) -> None:
        """Start the service, and a runner on each host."""
        self.token = token
        self.open_service()
        for name in self.hosts:
            self.runner(name)

    def open_service(self, *, sweep_after_s: float = 0.0) -> None:
        """Start everything but the runners; what finds lost jobs after a while."""
        options = ("--save", "", "--appendonly", "no", "--protected-mode", "no")
        self.start("redis", redis_program(), "--port", str(self.redis_port), *options)
        wait_for_port(self.redis_port)
        self.module("api", "service.api")
        wait_for_port(self.api_port)
        time.sleep(sweep_after_s)
        self.module("worker", "service.tasks.worker")
        self.module("scheduler", "service.tasks.scheduler")

    def runner(self, name: str) -> None:
        """Start the runner of a host."""
        host = self.hosts[name]
        own = {
            "KUNLINE_URL": f"http://{host.near}:{self.api_port}",
            "KUNLINE_BROKER_URL": f"redis://{host.near}:{self.redis_port}/0",
            "KUNLINE_TOKEN": self.token,
            "KUNLINE_HOST_NAME": f"host-{name}",
            "KUNLINE_LOCK_DIR": str(self.folder / f"locks-{name}"),
        }
        words = [f"{key}={value}" for key, value in own.items()]
        module = (sys.executable, "-m", "tests.e2e.standing_runner")
        self.start(f"runner-{name}", *host.command("env", *words, *module))


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[Site, Engine]]:
    folder = Path(tempfile.mkdtemp(prefix="kunline-two-hosts-"))
    with ExitStack() as open_things:
        open_things.callback(shutil.rmtree, folder, ignore_errors=True)
        made = (network_host(letter, number) for number, letter in enumerate("ab"))
        hosts = [open_things.enter_context(host) for host in made]
        cluster = open_things.enter_context(postgres())
        url = cluster.url_of(cluster.create())
        engine = create_database(url, connections=4)
        open_things.callback(engine.dispose)
        site = Site(folder, url, hosts)
        open_things.callback(site.stop)
        site.open(_prepared(engine))
        yield site, engine


def test_every_cell_has_its_repeats_though_one_host_is_killed_and_one_cut_off(
    place: tuple[Site, Engine],
) -> None:
    site, engine = place
    sessions = [_submitted(engine, number) for number in range(SESSIONS)]
    wait_until(lambda: _standing(site) == {"a", "b"}, LIMIT_S, "both hosts have a server up")

    family = site.kill("runner-a")
    site.hosts["b"].cut()
    cut_at = time.monotonic()
    wait_until(lambda: gone(family), 30, "what the killed runner started is gone")
    site.runner("a")
    time.sleep(max(0.0, CUT_S - (time.monotonic() - cut_at)))
    site.hosts["b"].mend()
    wait_until(lambda: _finished(engine, sessions), LIMIT_S, "every session is finished")

    _require_exactly_the_repeats(engine, sessions)
    assert not (site.folder / "twice.log").exists(), (site.folder / "twice.log").read_text()
    assert _leases(engine) == {"host-a": "host-a-cpu", "host-b": "host-b-cpu"}
    assert "lost" in site.log("runner-b") or "away" in site.log("runner-b")


def test_a_load_of_many_leases_outlives_the_restart_of_all_but_its_runner(
    place: tuple[Site, Engine],
) -> None:
    site, engine = place
    order = builders.session_order(arms=[builders.NEW], conditions=[SOAK], baseline=None)
    soak = path.submit(engine, order, "soak", now=datetime.now(UTC))
    wait_until(lambda: path.read(engine, soak).jobs[0].state == "claimed", LIMIT_S, "it began")
    began = time.monotonic()
    for name in ("api", "worker", "scheduler", "redis"):
        site.kill(name)
    # A lease here is shorter than an API takes to start: its runner is given the time to renew it.
    site.open_service(sweep_after_s=LEASE_S / 2)
    wait_until(lambda: _finished(engine, [soak]), LIMIT_S, "the long load is over")

    assert time.monotonic() - began > 3 * LEASE_S
    job = path.read(engine, soak).jobs[0]
    assert (job.state, job.attempt) == ("reported", 1)
    with reading(engine) as session:
        runs = session.execute(select(RunRow).where(RunRow.session_id == soak)).scalars().all()
        launches = session.scalar(select(func.count()).where(LaunchRow.job_id == job.id))
    assert [run.state for run in runs] == ["measured"]
    assert launches == 1


def _prepared(engine: Engine) -> str:
    """Migrate, and return a token for the runners."""
    schema.upgrade(engine)
    with writing(engine) as session:
        issued = issue_token(
            session,
            name="runners",
            scopes=(Scope.INGEST,),
            expires_at=None,
            now=datetime.now(UTC),
            draw=lambda: secrets.token_urlsafe(32),
        )
    return issued.secret


def _submitted(engine: Engine, number: int) -> UUID:
    arms = (builders.OLD, builders.NEW)[:LAUNCHES]
    order = builders.session_order(arms=arms, conditions=CONDITIONS, baseline=None)
    return path.submit(engine, order, f"session {number}", now=datetime.now(UTC))


def _standing(site: Site) -> set[str]:
    """Return the hosts that have a living server on their card."""
    notes = site.folder.glob("host-*.on")
    return {
        note.name.split("-")[1] for note in notes if psutil.pid_exists(int(note.read_text() or "0"))
    }


def _finished(engine: Engine, sessions: Sequence[UUID]) -> bool:
    return all(path.read(engine, each).state == "finished" for each in sessions)


def _require_exactly_the_repeats(engine: Engine, sessions: Sequence[UUID]) -> None:
    """Fail unless each cell of each launch has one run with all its repeats, on one host."""
    with reading(engine) as session:
        query = select(RunRow).where(RunRow.session_id.in_(sessions))
        runs = session.execute(query).scalars().all()
        values = of_runs(session, [run.id for run in runs], metrics={"tpot_p50"})
    each = Counter((run.session_id, run.job_id, run.condition_key) for run in runs)
    assert len(each) == len(runs) == SESSIONS * LAUNCHES * len(CONDITIONS)
    assert {run.state for run in runs} == {"measured"}
    assert {len(values[run.id]["tpot_p50"]) for run in runs} == {len(builders.SEEDS)}
    hosts = {each: {run.host for run in runs if run.session_id == each} for each in sessions}
    assert all(len(of_session) == 1 for of_session in hosts.values())
    assert set.union(*hosts.values()) == {"host-a", "host-b"}


def _leases(engine: Engine) -> dict[str, str]:
    with reading(engine) as session:
        rows = session.execute(select(CardLeaseRow.host, CardLeaseRow.runner))
        return {row.host: row.runner for row in rows}
