"""Read screens: what the screen last answered in each series, and where a series changed."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Sequence
from uuid import UUID

from service.domain.cell import title
from service.domain.regime import tolerance_of
from service.domain.screen import Answer
from service.formats.events import AnswersTold, ChangePoint, ScreenPage, SeriesScreen
from service.store import conditions, events, looks, screens
from service.store.database import ReadSession
from service.store.screens import KEY, ScreenFilter, StoredScreen
from service.store.series import SeriesKey
from service.usecases.read_runs import CursorError

# As many hosts, or change points, as one series is told of.
OF_SERIES = 100


def list_screens(
    session: ReadSession, wanted: ScreenFilter, *, limit: int, cursor: str | None
) -> ScreenPage:
    """Return a page of screens in the order of their series. Raises CursorError."""
    after = None if cursor is None else _read_cursor(cursor)
    found = screens.page(session, wanted, after=after, limit=limit + 1)
    page = found[:limit]
    more = len(found) > limit
    return ScreenPage(
        screens=_told(session, page), cursor=_cursor(page[-1]) if more and page else None
    )


def screens_of(session: ReadSession, series: SeriesKey) -> tuple[SeriesScreen, ...]:
    """Return what the screen says of a series, on its host or on each."""
    wanted = ScreenFilter(
        series.cell.condition_key, series.cell.protocol_key, series.metric, series.host
    )
    return _told(session, screens.page(session, wanted, after=None, limit=OF_SERIES))


def change_points(session: ReadSession, series: SeriesKey) -> tuple[ChangePoint, ...]:
    """Return where a series changed, on its host or on each, the newest seen first."""
    found = events.of_series(session, series, limit=OF_SERIES)
    numbers = {moved.look for moved, _ in found}
    named = looks.by_number(session, numbers)
    first = looks.first_runs(session, numbers, series.cell, metric=series.metric)
    return tuple(
        ChangePoint(
            event_id=event.part_of or event.id,
            host=moved.series.host or "",
            run_id=first.get(moved.look),
            stack_key=named[moved.look].stack_key,
            direction="worse" if event.worse else "better",
            change=moved.change,
            seen_at=event.seen_at,
        )
        for moved, event in found
    )


def answers_of(session: ReadSession, session_ids: Collection[UUID]) -> AnswersTold:
    """Return how many series gave each answer when they were last looked at in some sessions."""
    found = screens.answers(session, session_ids)
    return AnswersTold(no_alarm=found.get(Answer.NO_ALARM, 0), suspect=found.get(Answer.SUSPECT, 0))


def _told(session: ReadSession, found: Sequence[StoredScreen]) -> tuple[SeriesScreen, ...]:
    under = conditions.by_key(session, {each.series.cell.condition_key for each in found})
    named = looks.by_number(session, {each.look for each in found})
    return tuple(
        SeriesScreen(
            condition_key=each.series.cell.condition_key,
            protocol_key=each.series.cell.protocol_key,
            title=title(under[each.series.cell.condition_key]),
            metric=each.series.metric,
            host=each.series.host or "",
            answer=each.answer,
            smallest_effect=each.smallest_effect,
            tolerance=tolerance_of(each.series.metric),
            runs=each.standing.age,
            event_id=each.event_id,
            run_id=each.run_id,
            stack_key=named[each.look].stack_key,
            looked_at=each.looked_at,
        )
        for each in found
    )


def _cursor(screen: StoredScreen) -> str:
    series = screen.series
    words = [series.cell.condition_key, series.cell.protocol_key, series.metric, series.host]
    return urlsafe_b64encode(json.dumps(words).encode()).decode()


def _read_cursor(cursor: str) -> Sequence[str]:
    """Return the series that an earlier page ended at. Raises CursorError."""
    try:
        words = json.loads(urlsafe_b64decode(cursor))
    except ValueError as error:
        raise CursorError from error
    if not isinstance(words, list) or len(words) != len(KEY):
        raise CursorError
    if not all(isinstance(word, str) and "\0" not in word for word in words):
        raise CursorError
    return words
