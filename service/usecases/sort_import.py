"""Say what becomes of each result of an import: new, stored already, or refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self
from uuid import UUID, uuid4

from service.domain.cell import Cell
from service.domain.difference import Difference, differences
from service.domain.host import UNKNOWN_HOST
from service.domain.stated import Account, Stated, contradictions
from service.domain.withdrawal import Withdrawal
from service.formats.imports import ImportedResult, ImportOrder, ImportRead, ResultRead, ResultState
from service.formats.verdicts import DifferenceRead
from service.store import imports, withdrawals
from service.store.artefacts import Content
from service.store.database import ReadSession
from service.store.imports import Standing
from service.usecases.keep_artefact import checked

TOLD = "the file tells something else than is stated"
OTHERWISE = "stored already under something else; with --correct it is withdrawn there"
DEFINITION = "the tool's values mean something else than those of the results beside it"


@dataclass(frozen=True, slots=True)
class Bringing:
    """An import as it came: the order, its texts checked, and who brings it."""

    order: ImportOrder
    texts: Mapping[str, Content]
    who: str

    @classmethod
    def of(cls, order: ImportOrder, who: str) -> Self:
        """Check the texts of an order, before a database is asked.

        Raises whatever service.usecases.keep_artefact.checked raises.
        """
        return cls(order, {text.digest: text for text in checked(order.texts)}, who)

    @property
    def host(self) -> str:
        """Where it was measured, as said."""
        return self.order.host or UNKNOWN_HOST

    @property
    def cell(self) -> Cell:
        """The cell that is stated."""
        return Cell(self.order.condition.key, self.order.protocol.key)

    @property
    def stated(self) -> Stated:
        """Everything that the files need not tell."""
        order = self.order
        return Stated(
            order.condition.condition, order.protocol.protocol, order.stack.stack, order.served_as
        )


@dataclass(slots=True)
class Fresh:
    """What is to be stored, gathered result by result."""

    results: dict[UUID, ImportedResult] = field(default_factory=dict)
    replaced: dict[UUID, UUID] = field(default_factory=dict)


@dataclass(slots=True)
class _Sorter:
    """Says of each result in turn what becomes of it, and gathers those that are new."""

    bringing: Bringing
    standing: Mapping[tuple[str, int], Standing]
    withdrawn: Mapping[UUID, Withdrawal]
    definition: int | None
    fresh: Fresh = field(default_factory=Fresh)
    seen: dict[tuple[str, int], UUID] = field(default_factory=dict)

    def take(self, result: ImportedResult) -> ResultRead:
        """Return what becomes of one result."""
        identity = (result.digest, result.position)
        if (before := self.seen.get(identity)) is not None:
            return _read(result, ResultState.DUPLICATE, run_id=before)
        there = self.standing.get(identity)
        apart = () if there is None else _apart(self.bringing, result, there)
        if there is not None and not apart:
            return self._duplicate(result, there)
        if found := contradictions(self.bringing.stated, _account(result)):
            return _refused(result, TOLD, found)
        if there is not None and self.bringing.order.correct is None:
            read = self._duplicate(result, there)
            refused = _refused(result, OTHERWISE, apart)
            return refused.model_copy(update={"run_id": read.run_id, "withdrawn": read.withdrawn})
        if self.definition not in {None, result.definition}:
            wrong = Difference("definition", str(self.definition), str(result.definition))
            return _refused(result, DEFINITION, (wrong,))
        return self._new(result, there)

    def _new(self, result: ImportedResult, there: Standing | None) -> ResultRead:
        self.definition = result.definition
        run_id = uuid4()
        self.fresh.results[run_id] = result
        self.seen[result.digest, result.position] = run_id
        if there is not None:
            self.fresh.replaced[there.run_id] = run_id
        state = ResultState.INVALID if result.is_invalid else ResultState.STORED
        replaced = None if there is None else there.run_id
        stored = None if self.bringing.order.dry_run else run_id
        return _read(result, state, run_id=stored).model_copy(update={"replaced": replaced})

    def _duplicate(self, result: ImportedResult, there: Standing) -> ResultRead:
        withdrawn = self.withdrawn.get(there.run_id)
        read = _read(result, ResultState.DUPLICATE, run_id=there.run_id)
        if withdrawn is None:
            return read
        return read.model_copy(update={"withdrawn": True, "reason": withdrawn.sentence})


def sorted_import(
    session: ReadSession, bringing: Bringing, import_id: UUID | None, now: datetime
) -> tuple[Fresh, ImportRead]:
    """Return what is to be stored of an import, and what it is answered with.

    import_id: None for a dry run.
    """
    order = bringing.order
    standing = imports.standing(session, [result.digest for result in order.results])
    sorter = _Sorter(
        bringing=bringing,
        standing=standing,
        withdrawn=withdrawals.of_runs(session, {there.run_id for there in standing.values()}),
        # A correction is of what stands there; until it is done, two definitions may stand.
        definition=None if order.correct else imports.definition(session, bringing.cell),
    )
    results = tuple(sorter.take(result) for result in order.results)
    return sorter.fresh, ImportRead(
        id=import_id,
        stored_at=now,
        imported_by=bringing.who,
        condition_key=order.condition.key,
        protocol_key=order.protocol.key,
        stack_key=order.stack.key,
        host=bringing.host,
        results=results,
    )


def _apart(bringing: Bringing, result: ImportedResult, there: Standing) -> tuple[Difference, ...]:
    """Return under what else a result is stored; an unknown host is no other one."""
    order = bringing.order
    host = there.host if order.host is None else order.host
    return differences(
        {
            "stored.condition": there.condition_key,
            "stored.protocol": there.protocol_key,
            "stored.stack": there.stack_key,
            "stored.host": there.host,
            "stored.definition": there.definition,
        },
        {
            "stored.condition": order.condition.key,
            "stored.protocol": order.protocol.key,
            "stored.stack": order.stack.key,
            "stored.host": host,
            "stored.definition": result.definition,
        },
    )


def _account(result: ImportedResult) -> Account:
    return Account(result.tool, result.tool_version, result.told, result.resolution)


def _read(result: ImportedResult, state: ResultState, *, run_id: UUID | None) -> ResultRead:
    failed = [finding.message for finding in result.findings if finding.severity == "failure"]
    return ResultRead(
        file=result.file,
        line=result.line,
        position=result.position,
        state=state,
        run_id=run_id,
        reason="; ".join(failed) if state is ResultState.INVALID else "",
    )


def _refused(result: ImportedResult, reason: str, found: Sequence[Difference]) -> ResultRead:
    read = _read(result, ResultState.REFUSED, run_id=None)
    told = tuple(DifferenceRead.of(each) for each in found)
    return read.model_copy(update={"reason": reason, "differences": told})
