"""Queue a session: an ordered list of launches, each of them a job."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid4

from service.domain.condition import Occupancy
from service.formats.orders import LaunchOrder
from service.formats.sessions import SessionOrder
from service.store import conditions, idempotency, jobs, protocols, sessions, stacks
from service.store.database import WriteSession
from service.store.idempotency import Answered
from service.store.jobs import NewJob
from service.store.sessions import StoredSession
from service.store.stacks import StoredStack


class KeyReusedError(ValueError):
    """An idempotency key was used before, for something else."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"the Idempotency-Key {key!r} was used before, for something else; choose another "
            "--key, or repeat what was asked with it"
        )


class RepeatedCellError(ValueError):
    """A launch asks for one cell twice: a job stores one run of each."""

    def __init__(self, ordinal: int) -> None:
        super().__init__(f"launches.{ordinal} asks for one cell twice; use more seeds instead")


def submit_session(
    session: WriteSession, order: SessionOrder, *, idempotency_key: str, now: datetime
) -> UUID:
    """Store a session and its jobs and return its id; asked again, return the same id.

    Raises KeyReusedError when the key came with another order, and RepeatedCellError.
    """
    digest = sha256(order.model_dump_json().encode()).hexdigest()
    session_id = uuid4()
    if not idempotency.keep(session, idempotency_key, Answered(digest, session_id), now=now):
        return _answered_before(session, idempotency_key, digest)
    _keep_identities(session, order, now)
    sessions.keep(session, _stored(order, session_id, now))
    jobs.queue(session, _jobs(order, session_id), now=now)
    return session_id


def _answered_before(session: WriteSession, key: str, digest: str) -> UUID:
    before = idempotency.read(session, key)
    if before is None or before.request_digest != digest:
        raise KeyReusedError(key)
    return before.answer_id


def _keep_identities(session: WriteSession, order: SessionOrder, now: datetime) -> None:
    conditions.keep(session, [keyed.condition for keyed in order.conditions])
    protocols.keep(session, [keyed.protocol for keyed in order.protocols])
    stacks.keep(
        session,
        [StoredStack(stack.stack, stack.chip, stack.built_at) for stack in order.stacks],
        now=now,
    )


def _stored(order: SessionOrder, session_id: UUID, now: datetime) -> StoredSession:
    apart = {"launches", "conditions", "protocols"}
    return StoredSession(
        id=session_id,
        plan=order.plan,
        pool=order.pool,
        chip=order.chip,
        state="queued",
        host=order.host,
        baseline_stack_key=order.baseline_stack_key,
        content=order.model_dump(mode="json", exclude=apart),
        created_at=now,
        finished_at=None,
    )


def _jobs(order: SessionOrder, session_id: UUID) -> Sequence[NewJob]:
    occupancies = {keyed.key: keyed.condition.cards.occupancy for keyed in order.conditions}
    return [
        NewJob(
            id=uuid4(),
            session_id=session_id,
            ordinal=ordinal,
            pool=order.pool,
            chip=order.chip,
            cards=launch.cards,
            occupancy=_occupancy(launch, occupancies),
            stack_key=launch.stack_key,
            launch=_launch(launch, ordinal).model_dump(mode="json"),
            cells=len(launch.cells),
            repeats=sum(len(cell.seeds) for cell in launch.cells),
        )
        for ordinal, launch in enumerate(order.launches)
    ]


def _occupancy(launch: LaunchOrder, of_conditions: Mapping[str, Occupancy]) -> Occupancy:
    """Return solo for a launch of which one cell is to have the cards alone."""
    found = {of_conditions[cell.condition_key] for cell in launch.cells}
    return Occupancy.SOLO if Occupancy.SOLO in found else Occupancy.PACKED


def _launch(launch: LaunchOrder, ordinal: int) -> LaunchOrder:
    cells = {(cell.condition_key, cell.protocol_key) for cell in launch.cells}
    if len(cells) != len(launch.cells):
        raise RepeatedCellError(ordinal)
    return launch
