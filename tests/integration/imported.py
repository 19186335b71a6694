"""Imports for tests: small, valid, and different only where a test says so."""

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from uuid import UUID, uuid4

from sqlalchemy import Engine

from service.domain.resolution import Fact
from service.domain.stack import Stack
from service.formats.identities import KeyedCondition, KeyedProtocol
from service.formats.imports import ImportedResult, ImportOrder, ImportRead
from service.formats.reports import GateFinding
from service.formats.withdrawals import WithdrawalOrder, WithdrawalRead
from service.store.database import reading, writing
from service.usecases.import_runs import import_runs, plan_import
from service.usecases.sort_import import Bringing
from service.usecases.withdraw_run import withdraw_run
from tests.integration import builders
from tests.integration.builders import NEW, NOW, PROTOCOL
from tests.integration.path import FILES

WHO = "ann"


def text_of(line: int) -> bytes:
    """Return the text of one result: another line, another text."""
    return f'{{"line": {line}}}'.encode()


def result(
    line: int = 1,
    *,
    position: int = 0,
    file: str = "out.jsonl",
    scale: float = 1.0,
    launch: int = 1,
    definition: int = 1,
    told: dict[str, Fact] | None = None,
    findings: tuple[GateFinding, ...] = (),
) -> ImportedResult:
    """Build one result: throughput falls and latency rises with scale."""
    digest = sha256(text_of(line)).hexdigest()
    return ImportedResult(
        digest=digest,
        text=digest,
        position=position,
        file=file,
        line=line,
        launch=sha256(text_of(launch)).hexdigest(),
        tool="sglang.bench_serving",
        tool_version=">=0.5.14",
        definition=definition,
        measured_at=NOW,
        finished_at=NOW + timedelta(seconds=40),
        dated_by="file",
        values={"ttft_p50": 0.02 * scale, "output_throughput": 600 / scale},
        findings=findings,
        told={"concurrency": 4} if told is None else told,
        resolution={"version": "0.5.23"},
    )


def invalid(line: int = 1) -> ImportedResult:
    """Build one result with a failed gate."""
    failed = GateFinding(
        code="ttft_zero", severity="failure", message="zero", observed="0 s", required="more than 0"
    )
    return result(line, findings=(failed,))


def import_order(
    results: Sequence[ImportedResult] = (),
    *,
    stack: Stack = NEW,
    host: str | None = "h1",
    correct: str | None = None,
    dry_run: bool = False,
    concurrency: int = 4,
) -> ImportOrder:
    """Build an import of results, one by default, with their texts."""
    found = tuple(results) or (result(),)
    texts = {line: builders.artefact(text_of(line)) for line in {each.line for each in found}}
    return ImportOrder(
        condition=KeyedCondition.of(builders.condition(concurrency=concurrency)),
        protocol=KeyedProtocol.of(PROTOCOL),
        stack=builders.stack_order(stack),
        host=host,
        correct=correct,
        dry_run=dry_run,
        results=found,
        texts=tuple(texts.values()),
    )


def bring(engine: Engine, order: ImportOrder, *, key: str | None = None) -> ImportRead:
    """Import results; each call has a key of its own where none is given."""
    bringing = Bringing.of(order, WHO)
    if order.dry_run:
        with reading(engine) as session:
            return plan_import(session, bringing, now=NOW)
    with writing(engine) as session:
        return import_runs(
            session, bringing, files=FILES, idempotency_key=key or uuid4().hex, now=NOW
        )


def states(read: ImportRead) -> list[str]:
    """Return what became of each result, in order."""
    return [each.state.value for each in read.results]


def run_id_of(read: ImportRead, number: int = 0) -> UUID:
    """Return the id of the run that holds a result."""
    found = read.results[number].run_id
    assert found is not None
    return found


def withdraw(engine: Engine, run_id: UUID, reason: str = "wrong driver") -> WithdrawalRead:
    """Withdraw a run."""
    with writing(engine) as session:
        order = WithdrawalOrder(reason=reason)
        return withdraw_run(session, run_id, order, who=WHO, now=NOW)
