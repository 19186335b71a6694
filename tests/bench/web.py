"""How fast the pages' questions are answered where there are ten million values.

`python -m tests.bench.web`, `./dev bench web`. PostgreSQL is filled (see web_fill.py), one API
process answers over HTTP, and every question that a page of the dashboard asks is asked again and
again (see web_pages.py). What a page waits for is the whole answer, so that is what is timed;
`first` is the one question before which nobody had judged anything. `after a change` is asked
right after one more run that the answer has to show (see web_changes.py). `cpu` is what an answer
costs the service and its database, however busy the machine is. `again` is a question that brings
the tag of what it has already. Exit code 1 where the 95th percentile of any is above its bound, of
questions asked again and of those after a change alike.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import quote

import httpx
import psycopg

from service.store import schema
from service.store.database import create_database
from tests.bench import compat, web_fill, web_rows
from tests.bench.web_changes import Night, under_way
from tests.bench.web_pages import Question, questions
from tests.integration.databases import (
    Cluster,
    free_port,
    kept_postgres,
    postgres,
    wait_for_port,
)

SETTINGS = ("shared_buffers=256MB",)
# Stacks and cells of the compatibility table, beside the stacks that are measured here.
TOLD_STACKS, TOLD_CELLS = 500, 50
DATABASE = "kunline_web"
ASKED, ASKED_SLOWLY = 40, 10
TIMEOUT_S = 300
SETTLE_S = 0.5


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


@dataclass(frozen=True, slots=True)
class Timed:
    """How one question was answered; in seconds, and bytes.

    changed: each after one more run; empty where none changes the answer. cpu, changed_cpu: what
    an answer costs the service and its database.
    """

    first: float
    times: tuple[float, ...]
    changed: tuple[float, ...]
    again: float
    cpu: float
    changed_cpu: float
    size: int

    @property
    def late(self) -> float:
        """The 95th percentile: the higher of both."""
        return max(late_of(each) for each in (self.times, self.changed) if each)


def late_of(times: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return quantiles(times, n=20)[-1]


def main() -> int:
    """Fill, ask, print, and return 0 where every answer came in time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="keep the database there, and fill it once")
    parser.add_argument("--only", default="", help="ask what has these words alone")
    parser.add_argument("--stay", action="store_true", help="serve on until Ctrl-C")
    asked = parser.parse_args()
    with ExitStack() as left:
        if asked.folder is None:
            cluster = left.enter_context(postgres(settings=SETTINGS))
        else:
            cluster = left.enter_context(kept_postgres(asked.folder, settings=SETTINGS))
        url = filled(cluster)
        place = left.enter_context(tempfile.TemporaryDirectory())
        service = left.enter_context(serving(url, Path(place)))
        _settle(service)
        night = left.enter_context(under_way(url, f"{service.address}/api/v1", web_fill.made()))
        wanted = _wanted(url, asked.only)
        late = [each for each in wanted if not _told(each, timed(service, each, night))]
        if asked.stay:
            _stay(service)
    for each in late:
        sys.stdout.write(f"too late: {each.page}, {each.name}: {each.path}\n")
    return 1 if late else 0


def filled(cluster: Cluster) -> str:
    """Return the URL of a database that is full, and fill it where it is not there."""
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
        if known.fetchone() is None:
            began = time.perf_counter()
            fresh = cluster.create()
            values = _fill(cluster.url_of(fresh))
            sys.stdout.write(f"{values:,} values in {time.perf_counter() - began:.0f} s\n")
            # Only one that is full bears the name by which it is found again.
            connection.execute(f"ALTER DATABASE {fresh} RENAME TO {DATABASE}".encode())
    url = cluster.url_of(DATABASE)
    engine = create_database(url, connections=2)
    schema.upgrade(engine)
    engine.dispose()
    return url


def _fill(url: str) -> int:
    made = web_fill.made()
    engine = create_database(url, connections=2)
    schema.upgrade(engine)
    compat.fill(engine, TOLD_STACKS, TOLD_CELLS, release=version("kunline"))
    web_fill.keep_identities(engine, made)
    web_rows.keep_gates(engine)
    with psycopg.connect(url) as connection:
        values = web_fill.copy_runs(connection, made)
        web_rows.insert_noise(connection, made)
        web_rows.insert_screens(connection, made)
        web_rows.insert_rest(connection, made)
    web_rows.keep_incidents(engine, made)
    web_rows.keep_moves(engine, made)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    web_rows.tell_compat(engine, release=version("kunline"))
    engine.dispose()
    return values


def _wanted(url: str, words: str) -> list[Question]:
    """Return what is to be asked. words: of its page and name; empty for everything."""
    with psycopg.connect(url) as connection:
        held = connection.execute("SELECT name, digest FROM held_artefact").fetchall()
        gate = connection.execute("SELECT id FROM gate ORDER BY asked_at LIMIT 1").fetchone()
    known: Mapping[str, str] = {**dict(held), "gate": str(gate[0]) if gate else ""}
    found = questions(web_fill.made(), known)
    return [each for each in found if words in f"{each.page}, {each.name}"]


def _settle(service: Serving) -> None:
    """Wait until the newest sessions are judged, which the service does behind an overview."""
    began = time.perf_counter()
    with httpx.Client(base_url=f"{service.address}/api/v1", timeout=TIMEOUT_S) as client:
        while time.perf_counter() - began < TIMEOUT_S:
            shown = client.get("/overview").json()["sessions"]
            if all(each["told"] for each in shown if each["finished_at"]):
                break
            time.sleep(SETTLE_S)
    took = time.perf_counter() - began
    sys.stdout.write(f"the newest sessions were judged behind the overview in {took:.0f} s\n")


def timed(service: Serving, question: Question, night: Night) -> Timed:
    """Ask a question again and again, and after one more run each, and return how long it took."""
    path = quote(question.path, safe="/?&=:,")
    with httpx.Client(base_url=f"{service.address}/api/v1", timeout=TIMEOUT_S) as client:
        first, answer = _asked(client, path, question.body)
        count = ASKED if first < 1 else ASKED_SLOWLY
        before = service.cpu_s()
        times = tuple(_asked(client, path, question.body)[0] for _ in range(count))
        cpu = (service.cpu_s() - before) / count
        tag = {"If-None-Match": answer.headers.get("ETag", "")}
        again = median(_asked(client, path, question.body, tag)[0] for _ in range(count))
        changed, spent = [], 0.0
        for _ in range(count if question.of_runs else 0):
            night.report(question.of)
            before = service.cpu_s()
            changed.append(_asked(client, path, question.body)[0])
            spent += service.cpu_s() - before
    return Timed(first, times, tuple(changed), again, cpu, spent / count, len(answer.content))


def _asked(
    client: httpx.Client,
    path: str,
    body: Mapping[str, object] | None,
    headers: Mapping[str, str] | None = None,
) -> tuple[float, httpx.Response]:
    began = time.perf_counter()
    method = "GET" if body is None else "POST"
    answer = client.request(method, path, json=body, headers=headers)
    took = time.perf_counter() - began
    if answer.is_error:
        answer.raise_for_status()
    return took, answer


def _told(question: Question, found: Timed) -> bool:
    """Print how a question was answered, and return whether it was in time."""
    late = found.late * 1000
    sys.stdout.write(
        f"{f'{question.page}, {question.name}':34} {_middle(found.times)}  "
        f"(at most {question.wanted_ms:.0f})  cpu {found.cpu * 1000:6.1f} ms  "
        f"again {found.again * 1000:6.1f} ms  first {found.first * 1000:7.1f} ms  "
        f"{found.size / 1000:7.1f} kB"
        f"{_changed(found)}"
        f"{'' if late <= question.wanted_ms else '  TOO LATE'}\n"
    )
    sys.stdout.flush()
    return late <= question.wanted_ms


def _changed(found: Timed) -> str:
    if not found.changed:
        return ""
    cpu = f"cpu {found.changed_cpu * 1000:6.1f} ms"
    return f"  after a change {_middle(found.changed)}  {cpu}"


def _middle(times: Sequence[float]) -> str:
    return f"p50 {median(times) * 1000:6.1f} ms  p95 {late_of(times) * 1000:6.1f} ms"


def _cpu_s(pid: int) -> float:
    """Return a process's own time; user and system are the 14th and 15th words of its stat."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(url: str, place: Path) -> Iterator[Serving]:
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


def _stay(service: Serving) -> None:
    sys.stdout.write(f"serving at {service.address}\n")
    sys.stdout.flush()
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    sys.exit(main())
