"""Standing: a screen put away after every look goes on as if it had never been put away."""

import random
from collections.abc import Iterator, Sequence

import pytest

from service.domain.metric import Better
from service.domain.screen import Answer, Watched, look, watch
from service.domain.standing import Known, Seen, Standing, answer_of, resumed, seen

SERIES = tuple(
    Watched(f"cell {cell} {metric}", metric, better, 0.0075)
    for cell in range(3)
    for metric, better in (("tpot_p50", Better.LOWER), ("output_throughput", Better.HIGHER))
)
STEP = 45
NIGHTS = 70

Row = list[float | None]


def history(*, size: float, seed: int = 1, holes: float = 0.0) -> list[Row]:
    """Build nights in which the first two cells change once; a hole is a cell without a value."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for night in range(NIGHTS):
        luck = chance.gauss(0, 0.005)
        slow = [1 + luck + chance.gauss(0, 0.008) for _ in range(3)]
        if night >= STEP:
            slow[:2] = [each * (1 + size) for each in slow[:2]]
        row: Row = []
        for each in slow:
            gone = chance.random() < holes
            row += [None, None] if gone else [each, 1 / each]
        rows.append(row)
    return rows


def put_away(rows: Sequence[Row]) -> Iterator[Seen]:
    """Look at each row from what was kept of the looks before, and nothing else."""
    standings: tuple[Standing, ...] = (Standing(),) * len(SERIES)
    known: list[Known] = []
    for number, row in enumerate(rows):
        # Numbers of looks are no order of theirs: here they count down.
        order = {1000 - each: each for each in range(number + 1)}
        found = seen(
            resumed(SERIES, standings, order=order, known=known), standings, 1000 - number, row
        )
        standings = found.standings
        known += [
            Known(each.event.worse, each.change_look, 1000 - number) for each in found.sightings
        ]
        yield found


@pytest.mark.parametrize("size", [0.0, 0.02, 0.04, 0.1, -0.05])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_put_away_sees_the_same_as_what_goes_on(size: float, seed: int) -> None:
    rows = history(size=size, seed=seed)
    going_on, expected = watch(SERIES), []
    for row in rows:
        going_on, new = look(going_on, row)
        expected += [
            (each.seen, each.change_run, each.worse, each.trigger, len(each.moved)) for each in new
        ]

    found = [
        (night + 1, 1000 - each.change_look, each.event.worse, each.event.trigger, len(each.moved))
        for night, looked in enumerate(put_away(rows))
        for each in looked.sightings
    ]

    assert found == expected


def test_a_step_is_seen_at_its_first_look_and_from_the_one_before() -> None:
    looked = list(put_away(history(size=0.1)))

    (sighting,) = [each for found in looked for each in found.sightings]
    assert sighting.change_look == 1000 - STEP
    assert sighting.before == 1000 - STEP + 1
    assert {SERIES[each.place].name for each in sighting.moved} <= {
        each.name for each in SERIES[:4]
    }
    assert all(each.rose is (each.place % 2 == 0) for each in sighting.moved)
    assert looked[-1].standings[0].age == NIGHTS - STEP
    assert looked[-1].standings[4].age == NIGHTS


def test_series_that_move_later_than_their_event_are_told_as_late() -> None:
    rows = history(size=0.03)
    found = list(put_away(rows))

    listed = [
        each.place
        for looked in found
        for moved in (*(sighting.moved for sighting in looked.sightings), looked.late)
        for each in moved
    ]
    anew = {
        place
        for looked in found
        for place, standing in enumerate(looked.standings)
        if standing.values and standing.age < len(standing.values)
    }

    assert len(listed) == len(set(listed))
    assert set(listed) == anew
    assert anew


@pytest.mark.parametrize("seed", range(3))
def test_holes_move_no_change_point(seed: int) -> None:
    looked = list(put_away(history(size=0.1, seed=seed, holes=0.2)))

    sightings = [each for found in looked for each in found.sightings if each.event.worse]
    assert sightings
    assert all(abs(1000 - each.change_look - STEP) <= 2 for each in sightings)


@pytest.mark.parametrize(
    ("age", "moved", "answer"),
    [
        pytest.param(200, False, Answer.NO_ALARM, id="nothing was ever seen"),
        pytest.param(3, True, Answer.SUSPECT, id="a young level that an event began"),
        pytest.param(20, True, Answer.SUSPECT, id="as long as a change is looked for"),
        pytest.param(21, True, Answer.NO_ALARM, id="a level that is the series' own by now"),
        pytest.param(3, False, Answer.NO_ALARM, id="a series that is young itself"),
    ],
)
def test_a_series_is_suspect_while_its_new_level_is_young(
    age: int, moved: bool, answer: Answer
) -> None:
    assert answer_of(Standing(age=age), moved=moved) is answer


def test_nothing_known_is_a_screen_without_runs() -> None:
    fresh = resumed(SERIES, (Standing(),) * len(SERIES), order={})

    assert (fresh.rows, fresh.watch.runs) == ((), 0)
