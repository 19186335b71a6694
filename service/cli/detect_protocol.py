"""`kunline detect --protocol`: the screen and the A/B rule, spoken to line by line."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from service.domain.event import Event
from service.domain.metric import Better
from service.domain.screen import Watch, Watched, least_of, look, watch
from service.formats.detect_lines import LINE, Ab, AlarmLine, Begin, Line, Retest, Run
from service.stats.ab import Direction, TooShortHistoryError, decide
from service.stats.change import TooFewValuesError, ValueNotPositiveError


class LineError(ValueError):
    """A line is not of the protocol."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"line {number}: {why}; `kunline detect --help` names the protocol")


def replies(lines: Iterable[str]) -> Iterator[str]:
    """Yield one reply line for each line. Raises LineError."""
    watched = watch(())
    for number, text in enumerate(lines, 1):
        try:
            watched, reply = _answered(watched, LINE.validate_json(text))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"])) or "line"
            raise LineError(number, f"{where}: {problem['msg']}") from error
        except ValueError as error:
            raise LineError(number, str(error)) from error
        yield json.dumps(reply)


def _answered(watched: Watch, line: Line) -> tuple[Watch, dict[str, Any]]:
    match line:
        case Begin():
            return watch(_watched(line)), {}
        case Run():
            after, events = look(watched, [_above_zero(value) for value in line.values])
            return after, {"alarms": [_alarm(after, event).model_dump() for event in events]}
        case Retest():
            return watched, {"alarms": []}
        case Ab():
            return watched, {"verdict": _direction(line)}
        case _:
            return watched, {}


def _watched(begin: Begin) -> Iterator[Watched]:
    for number, cell in enumerate(begin.cells):
        better = Better.LOWER if cell.lower_is_better else Better.HIGHER
        yield Watched(f"{number} {cell.name}", cell.metric, better, least_of(cell.metric))


def _above_zero(value: float | None) -> float | None:
    """Return a value that has a logarithm; another counts as not measured."""
    return value if value is not None and value > 0 else None


def _alarm(watched: Watch, event: Event) -> AlarmLine:
    if len(watched.series) > 1:
        direction = "worse" if event.worse else "better"
        return AlarmLine(cell=None, cp=event.change_run, dir=direction)
    rising = event.worse is (watched.series[0].better is Better.LOWER)
    return AlarmLine(cell=0, cp=event.change_run, dir="up" if rising else "down")


def _direction(line: Ab) -> Direction:
    try:
        return decide(line.base, line.cand, line.history).direction
    except (TooShortHistoryError, TooFewValuesError, ValueNotPositiveError):
        return Direction.NONE
