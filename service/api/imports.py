"""Routes of imports: results measured elsewhere come in, each once."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header

from service.api.access import MayIngest, MayRead
from service.api.callers import name_of
from service.api.door import Opened
from service.domain.token import Scope
from service.formats.imports import ImportOrder, ImportRead
from service.usecases.admit import require_scope
from service.usecases.import_runs import import_runs, plan_import, read_import
from service.usecases.sort_import import Bringing

router = APIRouter(prefix="/imports", tags=["imports"])

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,128}$",
        description="Another one for each import; the same one when asking again.",
    ),
]


@router.post("")
def bring(door: Opened, caller: MayIngest, key: IdempotencyKey, order: ImportOrder) -> ImportRead:
    """Store the results that are new and say what became of each; a dry run stores nothing.

    A correction withdraws runs, which takes the scope of triage as well.
    """
    if order.correct is not None:
        require_scope(caller, Scope.TRIAGE)
    bringing = Bringing.of(order, name_of(caller, order.who))
    if order.dry_run:
        with door.reading() as session:
            return plan_import(session, bringing, now=door.now())
    with door.writing() as session:
        return import_runs(session, bringing, files=door.files, idempotency_key=key, now=door.now())


@router.get("/{import_id}")
def read(door: Opened, _: MayRead, import_id: UUID) -> ImportRead:
    """Return what an import was answered with."""
    with door.reading() as session:
        return read_import(session, import_id)
