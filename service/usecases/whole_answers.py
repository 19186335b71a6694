"""Comparisons of very many cells as they were told before, while they rest on what is there.

A thousand cells take seconds to judge, and a page that shows them should not wait for that twice.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from uuid import UUID

import zstandard

from service.domain.policy import Policy
from service.formats.comparisons import CellsCompared, SessionVerdicts
from service.store import judged, marks, overview, stacks
from service.store.database import ReadSession
from service.store.judged import Judged
from service.usecases.compare_stored import compare_stored
from service.usecases.judge_session import judge_session
from service.usecases.judge_squares import digest

# Fewer cells are judged as fast as a kept answer would be found.
CELLS_KEPT = 50
# Raised when such an answer says more than before, or is kept in another way.
REVISION = "2"


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """An answer as JSON. fresh: what of it may be kept; None where it was, or is not worth it."""

    text: str
    fresh: Judged | None = None


@dataclass(frozen=True, slots=True)
class StacksAsked:
    """Two stacks to be compared, by key, and what an answer about them rests on."""

    baseline: str
    candidate: str
    rests_on: str


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


def stacks_asked(
    session: ReadSession, baseline: str, candidate: str, *, rule: str
) -> StacksAsked | None:
    """Return what two stacks are asked about; None where a run is. Raises UnknownStackError."""
    if _is_run(baseline) or _is_run(candidate):
        return None
    keys = [stacks.read(session, each).stack.key for each in (baseline, candidate)]
    told = marks.of_all(session), marks.of_stacks(session, keys)
    return StacksAsked(keys[0], keys[1], digest(rule, REVISION, *told))


def comparison_of_stacks(
    session: ReadSession, asked: StacksAsked, *, policy: Policy
) -> WholeAnswer:
    """Return the comparison of two stacks, which may be one that was kept.

    Raises what compare_stored() raises.
    """
    subject = digest("stacks", asked.baseline, asked.candidate, str(policy.min_repeats))
    if (known := _known(session, subject, asked.rests_on)) is not None:
        return known
    found = compare_stored(
        session, baseline=asked.baseline, candidate=asked.candidate, policy=policy
    )
    return _answer(found, subject, asked.rests_on, worth_it=len(found.cells) >= CELLS_KEPT)


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


def _answer(
    found: SessionVerdicts | CellsCompared, subject: str, rests_on: str, *, worth_it: bool
) -> WholeAnswer:
    text = found.model_dump_json()
    if not worth_it:
        return WholeAnswer(text)
    # A thousand cells are megabytes of words that are much alike.
    kept = b64encode(zstandard.compress(text.encode())).decode()
    return WholeAnswer(text, Judged(subject, rests_on, {"zstd": kept}))
