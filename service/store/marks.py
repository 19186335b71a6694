"""What changes whenever stored judgements may: the newest end, withdrawal and pins, in few rows."""

from sqlalchemy import func, select

from service.store.database import ReadSession
from service.store.tables import BaselineRow, ImportedRunRow, SessionRow, WithdrawalRow


def of_all(session: ReadSession) -> str:
    """Return a text that is another one once a session ended, or a person changed what counts.

    Runs of a session that still runs do not change it: they count once it has ended.
    """
    ended = select(func.count(SessionRow.finished_at), func.max(SessionRow.finished_at))
    withdrawn = select(func.count(), func.max(WithdrawalRow.withdrawn_at))
    imported = select(func.count()).select_from(ImportedRunRow)
    pinned = select(
        func.count(), func.max(BaselineRow.pinned_at), func.max(BaselineRow.replaced_at)
    )
    rows = (session.execute(each).one() for each in (ended, withdrawn, imported, pinned))
    return repr([tuple(row) for row in rows])
