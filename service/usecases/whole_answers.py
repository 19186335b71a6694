"""Comparisons of very many cells as they were told before, while they rest on what is there.

A thousand cells take seconds to judge, and a page that shows them should not wait for that twice.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from uuid import UUID

import zstandard

from service.domain.policy import Policy
from service.store import judged, marks, overview, stacks
from service.store.database import ReadSession
from service.store.judged import Judged
from service.store.measured import Measured
from service.usecases.compare_stacks import CellTold, StacksAsked, compare_stacks, past_of
from service.usecases.compare_stored import compare_stored
from service.usecases.judge_session import judge_session
from service.usecases.judge_squares import digest
from service.usecases.pieces import Pieces

# Fewer cells are judged as fast as a kept answer would be found.
CELLS_KEPT = 50
# Raised when such an answer says more than before, or is kept in another way.
REVISION = "2"


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """An answer as JSON. fresh: what of it may be kept; None where it was, or is not worth it."""

    text: str
    fresh: Judged | None = None


def verdicts_of_session(
    session: ReadSession, session_id: UUID, *, baseline: str | None, channel: str, rule: str
) -> WholeAnswer:
    """Return the verdicts of a session. rule: another text whenever the rules say something else.

    Raises UnknownSessionError and UnknownStackError.
    """
    subject = digest("verdicts", str(session_id), baseline, channel)
    rests_on = digest(rule, REVISION, marks.of_all(session))
    large = overview.cells(session, [session_id])[session_id] >= CELLS_KEPT
    if large and (known := _known(session, subject, rests_on)) is not None:
        return known
    found = judge_session(
        session, session_id, baseline=baseline, channel=channel, looking_back=True
    )
    worth_it = large and found.finished
    return _answer(found.model_dump_json(), subject, rests_on, worth_it=worth_it)


def stacks_asked(
    session: ReadSession, baseline: str, candidate: str, *, rule: str
) -> StacksAsked | None:
    """Return what two stacks are asked about; None where a run is. Raises UnknownStackError."""
    if _is_run(baseline) or _is_run(candidate):
        return None
    before, after = (stacks.read(session, each) for each in (baseline, candidate))
    keys = before.stack.key, after.stack.key
    past = past_of(session, before, after)
    told = past, marks.of_all(session), marks.of_stacks(session, keys)
    return StacksAsked(*keys, rule=rule, past=past, rests_on=digest(rule, REVISION, *told))


def comparison_of_stacks(
    session: ReadSession,
    asked: StacksAsked,
    *,
    policy: Policy,
    cells: Pieces[CellTold],
    squares: Pieces[Measured],
) -> WholeAnswer:
    """Return the comparison of two stacks, which may be one that was kept.

    cells, squares: those that were told before, of which only what changed since is told anew.
    Raises what compare_stored() raises.
    """
    subject = digest("stacks", asked.baseline, asked.candidate, str(policy.min_repeats))
    if (known := _known(session, subject, asked.rests_on)) is not None:
        return known
    told = compare_stacks(
        session, asked, policy=policy, cells=cells, squares=squares, least=CELLS_KEPT
    )
    if told is None:
        found = compare_stored(
            session, baseline=asked.baseline, candidate=asked.candidate, policy=policy
        )
        return WholeAnswer(found.model_dump_json())
    # To keep it takes longer than to judge a few cells of it again.
    worth_it = told.judged >= CELLS_KEPT
    return _answer(told.content.decode(), subject, asked.rests_on, worth_it=worth_it)


def _is_run(text: str) -> bool:
    try:
        return bool(UUID(text)) and "-" in text
    except ValueError:
        return False


def _known(session: ReadSession, subject: str, rests_on: str) -> WholeAnswer | None:
    found = judged.known(session, {subject: rests_on}).get(subject)
    if found is None:
        return None
    return WholeAnswer(zstandard.decompress(b64decode(found["zstd"])).decode())


def _answer(text: str, subject: str, rests_on: str, *, worth_it: bool) -> WholeAnswer:
    if not worth_it:
        return WholeAnswer(text)
    # A thousand cells are megabytes of words that are much alike.
    kept = b64encode(zstandard.compress(text.encode())).decode()
    return WholeAnswer(text, Judged(subject, rests_on, {"zstd": kept}))
