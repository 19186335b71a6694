"""The order of repeats: every cell once a round, each round begun one cell later."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from runners.benchmarks.rotation import Turn, rotated


def test_each_round_begins_one_cell_later() -> None:
    turns = rotated([2, 2, 2])

    assert [(turn.repeat, turn.cell) for turn in turns] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (1, 0),
    ]


def test_a_cell_with_fewer_repeats_drops_out() -> None:
    assert rotated([1, 3]) == (Turn(0, 0), Turn(1, 0), Turn(1, 1), Turn(1, 2))


def test_no_cells_give_no_turns() -> None:
    assert rotated([]) == ()


@given(st.lists(st.integers(0, 6), max_size=8))
def test_every_repeat_of_every_cell_comes_exactly_once(repeats: list[int]) -> None:
    turns = rotated(repeats)

    assert Counter(turn.cell for turn in turns) == Counter(
        {cell: count for cell, count in enumerate(repeats) if count}
    )
    assert len(set(turns)) == len(turns)
    assert [turn.repeat for turn in turns] == sorted(turn.repeat for turn in turns)
