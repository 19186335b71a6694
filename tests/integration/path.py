"""Steps along the path, as a runner and a person take them, on a real database."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine

from service.domain.job import JobState, Leasing
from service.formats.orders import Claim, Finish, JobOrder
from service.formats.reports import LaunchReport, RunReport, Stored
from service.formats.sessions import SessionOrder, SessionRead
from service.store.artefacts import ArtefactFiles
from service.store.database import reading, writing
from service.usecases.claim_job import claim_job
from service.usecases.finish_job import finish_job
from service.usecases.read_sessions import read_session
from service.usecases.report_launch import report_launch
from service.usecases.report_run import report_runs, whole_run
from service.usecases.submit_session import submit_session
from tests.integration import builders
from tests.integration.builders import NOW

LEASING = Leasing(lease=timedelta(seconds=45), attempts_max=3)
FILES = ArtefactFiles("memory://tests")


def submit(engine: Engine, order: SessionOrder, key: str = "one", *, now: datetime = NOW) -> UUID:
    with writing(engine) as session:
        return submit_session(session, order, idempotency_key=key, now=now)


def claim(engine: Engine, wanted: Claim | None = None, *, now: datetime = NOW) -> JobOrder | None:
    with writing(engine) as session:
        return claim_job(session, wanted or builders.claim(), leasing=LEASING, now=now)


def claimed(engine: Engine, wanted: Claim | None = None, *, now: datetime = NOW) -> JobOrder:
    order = claim(engine, wanted, now=now)
    assert order is not None
    return order


def report(engine: Engine, sent: RunReport, *, now: datetime = NOW) -> Stored:
    with writing(engine) as session:
        (answer,) = report_runs(session, [whole_run(sent, now)], files=FILES)
        if isinstance(answer, Exception):
            raise answer
        return answer


def tell_launch(engine: Engine, sent: LaunchReport, *, now: datetime = NOW) -> None:
    with writing(engine) as session:
        report_launch(session, sent, files=FILES, now=now)


def finish(
    engine: Engine, order: JobOrder, *, handed_back: bool = False, now: datetime = NOW
) -> JobState:
    with writing(engine) as session:
        return finish_job(
            session,
            order.job_id,
            Finish(fencing_token=order.fencing_token, handed_back=handed_back),
            leasing=LEASING,
            now=now,
        )


def do_job(engine: Engine, order: JobOrder, *, scale: float = 1.0) -> None:
    """Report the launch and every cell of a job, and finish it."""
    tell_launch(engine, builders.launch_report(order, launch_id=order.job_id))
    for cell in range(len(order.launch.cells)):
        report(
            engine,
            builders.run_report(order, cell=cell, launch_id=order.job_id, scale=scale),
        )
    finish(engine, order)


def do_session(
    engine: Engine, order: SessionOrder, key: str = "one", *, scales: dict[str, float] | None = None
) -> UUID:
    """Submit a session and do all of its jobs. scales: by stack name; 1 where not named."""
    session_id = submit(engine, order, key)
    while (job := claim(engine)) is not None:
        do_job(engine, job, scale=(scales or {}).get(job.stack.stack.name, 1.0))
    return session_id


def read(engine: Engine, session_id: UUID) -> SessionRead:
    with reading(engine) as session:
        return read_session(session, session_id)
