"""Comparisons of very many cells as they were told before, while they rest on what is there.

A thousand cells take seconds to judge, and a page that shows them should not wait for that twice.
"""

from dataclasses import dataclass
from uuid import UUID

from service.domain.policy import Policy
from service.formats.comparisons import CellsCompared, SessionVerdicts
from service.store import judged, marks, measured, overview, stacks
from service.store.database import ReadSession
from service.store.judged import Judged
from service.usecases.compare_stored import compare_stored
from service.usecases.judge_session import judge_session
from service.usecases.judge_squares import digest

# Fewer cells are judged as fast as a kept answer would be found.
CELLS_KEPT = 50
SQUARES = 100_000
# Raised when such an answer says more than before.
REVISION = "1"


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
    return _answer(found, subject, rests_on, worth_it=large and found.finished)


def comparison_of(
    session: ReadSession, *, baseline: str, candidate: str, policy: Policy, rule: str
) -> WholeAnswer:
    """Return the comparison of two runs or two stacks; that of two stacks may be a kept one.

    Raises what compare_stored() raises.
    """
    if _is_run(baseline) or _is_run(candidate):
        return _answer(_compared(session, baseline, candidate, policy), "", "", worth_it=False)
    keys = [stacks.read(session, each).stack.key for each in (baseline, candidate)]
    squares = measured.of_stacks(session, keys, limit=SQUARES)
    subject = digest("stacks", *keys, str(policy.min_repeats))
    rests_on = digest(rule, REVISION, marks.of_all(session), *sorted(map(repr, squares)))
    if len(squares) >= CELLS_KEPT and (known := _known(session, subject, rests_on)) is not None:
        return known
    found = _compared(session, baseline, candidate, policy)
    return _answer(found, subject, rests_on, worth_it=len(found.cells) >= CELLS_KEPT)


def _is_run(text: str) -> bool:
    try:
        return bool(UUID(text)) and "-" in text
    except ValueError:
        return False


def _compared(session: ReadSession, baseline: str, candidate: str, policy: Policy) -> CellsCompared:
    return compare_stored(session, baseline=baseline, candidate=candidate, policy=policy)


def _known(session: ReadSession, subject: str, rests_on: str) -> WholeAnswer | None:
    found = judged.known(session, {subject: rests_on}).get(subject)
    return None if found is None else WholeAnswer(str(found["text"]))


def _answer(
    found: SessionVerdicts | CellsCompared, subject: str, rests_on: str, *, worth_it: bool
) -> WholeAnswer:
    text = found.model_dump_json()
    return WholeAnswer(text, Judged(subject, rests_on, {"text": text}) if worth_it else None)
