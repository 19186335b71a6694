"""Queries that take cells out of what is still in a session's queue."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update

from service.domain.cell import Cell
from service.domain.job import JobState
from service.store.database import WriteSession
from service.store.tables import JobRow


def drop(
    session: WriteSession, session_id: UUID, cells: Collection[Cell], *, now: datetime
) -> None:
    """Take cells out of a session's queued jobs; a job without any cell left is cancelled.

    Jobs that somebody moves just now are left alone: they are being claimed or cancelled.
    """
    queued = session.execute(
        select(JobRow.id, JobRow.launch)
        .where(JobRow.session_id == session_id, JobRow.state == JobState.QUEUED.value)
        .order_by(JobRow.id)
        .with_for_update(skip_locked=True)
    ).all()
    for job_id, launch in queued:
        left = [cell for cell in launch["cells"] if _cell(cell) not in cells]
        if len(left) == len(launch["cells"]):
            continue
        changed = (
            {
                "launch": {**launch, "cells": left},
                "cells": len(left),
                "repeats": sum(len(cell["seeds"]) for cell in left),
            }
            if left
            else {"state": JobState.CANCELLED.value, "finished_at": now}
        )
        session.execute(
            update(JobRow)
            .where(JobRow.id == job_id)
            .values(**changed)
            .execution_options(synchronize_session=False)
        )


def _cell(ordered: dict[str, str]) -> Cell:
    return Cell(ordered["condition_key"], ordered["protocol_key"])
