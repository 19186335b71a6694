"""History: the spread that two arms may expect of their launches, from other sessions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from service.stats.variance import Expected
from service.store.database import ReadSession
from service.usecases.read_noise import expected
from service.usecases.sides import Pair

# By metric name; None where history has no say.
ByMetric = Mapping[str, Expected] | None


def expected_of_pairs(session: ReadSession, pairs: Sequence[Pair]) -> Sequence[ByMetric]:
    """Return what history expects of each pair's launches, in the order of the pairs.

    It speaks of launches of one session. So it is asked where one session measured both arms; and
    where each arm has one launch alone, for then nothing else tells how much launches differ.
    Launches of several sessions tell themselves what differs from day to day, and history does not.
    """
    asked: dict[tuple[str, frozenset[UUID]], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        if pair.host is not None and (sessions := _sessions(pair)):
            asked[pair.host, sessions].append(place)
    found: list[ByMetric] = [None] * len(pairs)
    for (host, sessions), places in asked.items():
        cells = {pairs[place].cell for place in places}
        known = expected(session, cells, host=host, without_sessions=sessions)
        for place in places:
            found[place] = known.get(pairs[place].cell)
    return found


def _sessions(pair: Pair) -> frozenset[UUID]:
    """Return the sessions of both arms where history has a say beside them, else nothing."""
    used = [run for run in (*pair.baseline.runs, *pair.candidate.runs) if run.may_be_judged]
    sessions = {run.session_id for run in used}
    launches = {run.launch_id for run in used}
    alone = len(launches) == len(used) == 2  # noqa: PLR2004 — one an arm
    if None in sessions or not (len(sessions) == 1 or alone):
        return frozenset()
    return frozenset(each for each in sessions if each is not None)
