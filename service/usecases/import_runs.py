"""Store results measured elsewhere, each once however often and in whichever file it comes."""

from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid4, uuid5

from service.domain.withdrawal import Withdrawal
from service.formats.imports import TEXT_NAME, ImportedResult, ImportRead
from service.store import (
    artefacts,
    audits,
    compat,
    conditions,
    idempotency,
    imports,
    protocols,
    runs,
    samples,
    stacks,
    withdrawals,
)
from service.store.artefacts import Files, Held
from service.store.database import ReadSession, WriteSession
from service.store.idempotency import Answered
from service.store.imports import ImportedRun, StoredImport
from service.store.runs import NewRun
from service.store.stacks import StoredStack
from service.usecases.look import look_again, look_at_import
from service.usecases.sort_import import Bringing, Fresh, sorted_import
from service.usecases.submit_session import KeyReusedError
from service.usecases.withdraw_run import entry_of

# Launches of other people's have no id: theirs is made of their first result.
LAUNCHES = UUID("5f0c4b1e-6c0e-4d53-9a53-8a7f6d1c2b90")


class UnknownImportError(LookupError):
    """No import has that id."""

    def __init__(self, import_id: UUID) -> None:
        super().__init__(f"no import {import_id}")


def plan_import(session: ReadSession, bringing: Bringing, *, now: datetime) -> ImportRead:
    """Return what an import would do. Nothing is stored."""
    _, read = sorted_import(session, bringing, None, now)
    return read


def import_runs(
    session: WriteSession,
    bringing: Bringing,
    *,
    files: Files,
    idempotency_key: str,
    now: datetime,
) -> ImportRead:
    """Store the results of an import that are new, and say of each what became of it.

    A result is the tool's own text of it: one that is stored stays as it is, whatever its file is
    called now. Those that contradict what is stated are refused, field by field. Asked again with
    the same key, return the first answer. Raises KeyReusedError.
    """
    imports.hold(session)
    import_id = uuid4()
    answered = Answered(sha256(bringing.order.model_dump_json().encode()).hexdigest(), import_id)
    if not idempotency.keep(session, idempotency_key, answered, now=now):
        return _answered_before(session, idempotency_key, answered.request_digest)
    fresh, read = sorted_import(session, bringing, import_id, now)
    imports.keep(session, StoredImport(import_id, now, bringing.who, read.model_dump(mode="json")))
    if fresh.results:
        _keep(session, bringing, fresh, import_id, files, now)
    if fresh.replaced:
        _withdraw(session, bringing, fresh, now)
        look_again(session, list(fresh.replaced), now=now)
    if fresh.results:
        look_at_import(session, import_id, host=bringing.host, now=now)
    if fresh.results or fresh.replaced:
        compat.forget(session, _stacks(session, bringing, fresh))
    return read


def read_import(session: ReadSession, import_id: UUID) -> ImportRead:
    """Return what an import was answered with. Raises UnknownImportError."""
    found = imports.read(session, import_id)
    if found is None:
        raise UnknownImportError(import_id)
    return ImportRead.model_validate(found)


def _stacks(session: ReadSession, bringing: Bringing, fresh: Fresh) -> set[str]:
    """Return the stacks of what an import brought, and of what it replaced."""
    replaced = {runs.read(session, run_id).stack_key for run_id in fresh.replaced}
    return replaced | {bringing.order.stack.key}


def _answered_before(session: WriteSession, key: str, digest: str) -> ImportRead:
    before = idempotency.read(session, key)
    if before is None or before.request_digest != digest:
        raise KeyReusedError(key)
    try:
        return read_import(session, before.answer_id)
    except UnknownImportError as error:
        raise KeyReusedError(key) from error


def _keep(
    session: WriteSession,
    bringing: Bringing,
    fresh: Fresh,
    import_id: UUID,
    files: Files,
    now: datetime,
) -> None:
    order, found = bringing.order, fresh.results
    conditions.keep(session, [order.condition.condition])
    protocols.keep(session, [order.protocol.protocol])
    stack = StoredStack(order.stack.stack, order.stack.chip, order.stack.built_at)
    stacks.keep(session, [stack], now=now)
    runs.keep_all(session, [_run(bringing, run_id, one, now) for run_id, one in found.items()])
    samples.keep_all(
        session,
        {
            run_id: {name: (value,) for name, value in one.values.items()}
            for run_id, one in found.items()
        },
    )
    digests = dict.fromkeys(one.text for one in found.values())
    artefacts.keep(session, files, [bringing.texts[digest] for digest in digests], now=now)
    artefacts.hold_all(
        session,
        {run_id: [Held(TEXT_NAME, one.text, "text/plain")] for run_id, one in found.items()},
    )
    imports.replace(session, fresh.replaced, now=now)
    imports.keep_runs(session, [_imported(run_id, import_id, one) for run_id, one in found.items()])


def _run(bringing: Bringing, run_id: UUID, result: ImportedResult, now: datetime) -> NewRun:
    return NewRun(
        id=run_id,
        session_id=None,
        job_id=None,
        launch_id=uuid5(LAUNCHES, f"{result.launch} {bringing.order.stack.key}"),
        condition_key=bringing.order.condition.key,
        protocol_key=bringing.order.protocol.key,
        stack_key=bringing.order.stack.key,
        host=bringing.host,
        state="invalid" if result.is_invalid else "measured",
        measured_at=result.measured_at,
        finished_at=result.finished_at,
        stored_at=now,
        # Which of the stated seeds a result had, no file tells.
        seeds=[],
        overhead_s=[],
        findings=[finding.model_dump(mode="json") for finding in result.findings],
        broken=None,
    )


def _imported(run_id: UUID, import_id: UUID, result: ImportedResult) -> ImportedRun:
    return ImportedRun(
        run_id=run_id,
        import_id=import_id,
        digest=result.digest,
        position=result.position,
        file=result.file,
        line=result.line,
        tool=result.tool,
        tool_version=result.tool_version,
        definition=result.definition,
        dated_by=result.dated_by,
        told=dict(result.told),
        resolution=dict(result.resolution),
    )


def _withdraw(session: WriteSession, bringing: Bringing, fresh: Fresh, now: datetime) -> None:
    """Withdraw what is stored anew, each run with the one that stands in its place."""
    reason = bringing.order.correct or ""
    before = withdrawals.of_runs(session, set(fresh.replaced))
    entries = []
    for old, new in fresh.replaced.items():
        withdrawal = Withdrawal(old, now, bringing.who, reason, new)
        withdrawals.end(session, old)
        withdrawals.keep(session, withdrawal)
        entries.append(entry_of(withdrawal, before.get(old)))
    audits.keep(session, entries)
