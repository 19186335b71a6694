"""Cancel a confirm: what is queued is not measured, and nothing is concluded."""

from datetime import datetime
from uuid import UUID

from service.domain.audit import Act, Noun
from service.domain.confirm import Ending, State
from service.domain.verdict import Outcome
from service.store import confirms
from service.store.database import WriteSession
from service.usecases.cancel_session import cancel_session
from service.usecases.conclude_confirm import conclude_confirm
from service.usecases.note_act import note_act


def cancel_confirm(session: WriteSession, confirm_id: UUID, *, who: str, now: datetime) -> None:
    """Cancel a confirm; one that is over stays as it is. Raises UnknownConfirmError.

    A launch that runs is stopped at its next sign of life, and what it cost is counted.
    """
    confirms.hold(session)
    found = confirms.read(session, confirm_id)
    if found.session_id is not None and found.state is State.RUNNING:
        # Jobs first, as everybody who moves one does.
        cancel_session(session, found.session_id, now=now)
    found = confirms.locked(session, confirm_id)
    if found.state is State.ENDED:
        return
    note_act(session, Act.CANCEL, Noun.CONFIRM, confirm_id, who=who, what="as asked", now=now)
    reason = f"{who} cancelled it"
    conclude_confirm(
        session, found, Outcome.INCONCLUSIVE, by=Ending.CANCELLED, reason=reason, now=now
    )
