"""The plan: the fewest launches, the stacks in turn, one value for each flag."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.condition import (
    Cards,
    Condition,
    Load,
    Parallelism,
    Procedure,
    ServedModel,
    Traffic,
)
from service.domain.plan import (
    Arm,
    Ask,
    Cell,
    ConflictError,
    card_count,
    expected_time,
    interleaved,
    latin_row,
    launches,
    server_needs,
    shared_launches,
    together,
)
from service.domain.protocol import Protocol
from service.domain.server_arguments import Argument
from service.domain.stack import Stack

TRAFFIC = Traffic(
    load=Load.CLOSED,
    dataset="random-ids",
    input_tokens=128,
    output_tokens=32,
    lengths="fixed",
    concurrency=1,
    rate=None,
    prompts=8,
    shared_prefix_tokens=0,
    seeds_digest="s",
    ignore_eos=True,
    temperature=0.0,
)


def cell(
    *,
    tp: int = 1,
    model: str = "tiny",
    concurrency: int = 1,
    arguments: dict[str, Argument] | None = None,
) -> Cell:
    asked = arguments or {}
    return Cell(
        layout=f"tp {tp}",
        workload="short",
        model=model,
        client="client",
        why="because",
        condition=Condition(
            cards=Cards("core", "shared", tp),
            parallelism=Parallelism(tp=tp),
            model=ServedModel(model, "w", "none", "bfloat16", "auto"),
            traffic=replace(TRAFFIC, concurrency=concurrency),
            procedure=Procedure("flushed", 1),
            server_arguments=asked,
        ),
        protocol=Protocol("sglang.bench_serving", "0.5.23", "t", 1),
        asks=(Ask("the plan", asked),),
        seeds=(1, 2),
        start_s=30,
        repeat_s=5,
    )


def arm(name: str, **arguments: Argument) -> Arm:
    return Arm(Stack(name, (), arguments), f"stacks/{name}.yaml")


def test_two_stacks_and_two_rounds_are_measured_a_b_b_a() -> None:
    order = launches([cell()], [arm("a"), arm("b")], 2)

    assert [launch.stack.name for launch in order] == ["a", "b", "b", "a"]


def test_every_other_round_is_reversed() -> None:
    order = interleaved([arm("a"), arm("b"), arm("c")], 3)

    assert [one.stack.name for one in order] == list("abccbaabc")


@given(st.integers(1, 6), st.integers(1, 5))
def test_over_an_even_number_of_rounds_a_linear_drift_falls_on_all_stacks_alike(
    stacks: int, pairs: int
) -> None:
    arms = [arm(f"s{number}") for number in range(stacks)]

    order = interleaved(arms, 2 * pairs)

    sums = {one.file: sum(place for place, at in enumerate(order) if at == one) for one in arms}
    assert len(set(sums.values())) == 1


@given(st.integers(1, 6), st.integers(1, 4))
def test_over_as_many_rounds_as_seeds_each_seed_is_once_at_each_place(
    count: int, arms: int
) -> None:
    seeds = tuple(range(100, 100 + count))
    order = launches(
        [replace(cell(), seeds=seeds)], [arm(f"s{number}") for number in range(arms)], count
    )

    for stack in {launch.stack.name for launch in order}:
        rows = [launch.seeds_of(launch.cells[0]) for launch in order if launch.stack.name == stack]
        assert all(sorted(row) == list(seeds) for row in rows)
        assert all(sorted(column) == list(seeds) for column in zip(*rows, strict=True))


def test_all_stacks_of_a_round_measure_the_seeds_in_one_order() -> None:
    order = launches([replace(cell(), seeds=(7, 8, 9))], [arm("a"), arm("b")], 2)

    rows = [launch.seeds_of(launch.cells[0]) for launch in order]

    assert rows == [(7, 8, 9), (7, 8, 9), (8, 9, 7), (8, 9, 7)]


def test_a_cell_without_seeds_has_nothing_to_rotate() -> None:
    assert latin_row((), 3) == ()


def partitions(cells: list[Cell]) -> Iterator[list[list[Cell]]]:
    """Every way to put cells into groups."""
    if not cells:
        yield []
        return
    first, *rest = cells
    for parts in partitions(rest):
        yield [[first], *parts]
        for position, part in enumerate(parts):
            yield [*parts[:position], [first, *part], *parts[position + 1 :]]


def one_server_serves(group: list[Cell]) -> bool:
    needs = [server_needs(one) for one in group]
    return all(need == needs[0] for need in needs)


CELLS = st.builds(
    cell,
    tp=st.sampled_from([1, 2]),
    model=st.sampled_from(["tiny", "large"]),
    concurrency=st.integers(1, 3),
    arguments=st.sampled_from([{}, {"page-size": 64}]),
)


@given(st.lists(CELLS, min_size=1, max_size=6), st.integers(1, 2), st.integers(1, 2))
def test_there_are_no_fewer_launches_than_by_trying_every_grouping(
    cells: list[Cell], stacks: int, rounds: int
) -> None:
    fewest = min(
        len(parts) for parts in partitions(cells) if all(one_server_serves(part) for part in parts)
    )

    order = launches(cells, [arm(f"s{number}") for number in range(stacks)], rounds)

    assert len(order) == fewest * stacks * rounds
    assert all(one_server_serves(list(launch.cells)) for launch in order)


@given(st.lists(CELLS, min_size=1, max_size=8))
def test_each_cell_is_in_exactly_one_group_in_the_order_of_the_plan(cells: list[Cell]) -> None:
    groups = shared_launches(cells)

    place = {id(one): position for position, one in enumerate(cells)}
    places = [[place[id(one)] for one in group] for group in groups]
    assert sorted(chain.from_iterable(places)) == list(range(len(cells)))
    assert places == sorted(sorted(group) for group in places)


def test_a_launch_has_the_arguments_of_layout_condition_and_stack() -> None:
    (launch,) = launches(
        [cell(tp=2, arguments={"page_size": 64, "sleep-on-idle": False})],
        [arm("a", **{"attention-backend": "kunlun"})],
        1,
    )

    assert launch.server_arguments == {
        "attention-backend": "kunlun",
        "page-size": 64,
        "tp-size": 2,
    }
    assert launch.cards == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"page-size": 64}, {"page_size": 128}, id="two values under two spellings"),
        pytest.param({"sleep-on-idle": True}, {"sleep-on-idle": False}, id="given and not given"),
        pytest.param({"page-size": 1}, {"page-size": True}, id="one and true"),
    ],
)
def test_one_flag_with_two_values_names_both_files(
    first: dict[str, Argument], second: dict[str, Argument]
) -> None:
    with pytest.raises(ConflictError, match=r"in a\.yaml and .* in b\.yaml"):
        together([Ask("a.yaml", first), Ask("b.yaml", second)])


def test_one_variable_with_two_values_names_both_files() -> None:
    with pytest.raises(ConflictError, match=r"OMP is '1' in a\.yaml and '2' in b\.yaml"):
        together([Ask("a.yaml", {}, {"OMP": "1"}), Ask("b.yaml", {}, {"OMP": "2"})])


def test_what_two_files_ask_alike_is_asked_once() -> None:
    asked = together([Ask("a", {"page-size": 64}), Ask("b", {"--page_size": 64})])

    assert asked.arguments == {"page-size": 64}


@pytest.mark.parametrize(
    ("parallelism", "arguments", "count"),
    [
        pytest.param(Parallelism(tp=4), {}, 4, id="tensor parallel"),
        pytest.param(Parallelism(tp=4, pp=2), {}, 8, id="and pipeline parallel"),
        pytest.param(Parallelism(tp=4, dp=2), {}, 8, id="two replicas"),
        pytest.param(
            Parallelism(tp=8, dp=4, ep=8),
            {"enable-dp-attention": True},
            8,
            id="data parallel attention and experts on the same cards",
        ),
    ],
)
def test_the_cards_of_a_layout(
    parallelism: Parallelism, arguments: dict[str, Argument], count: int
) -> None:
    assert card_count(parallelism, arguments) == count


def test_the_expected_time_counts_each_start_and_each_repeat_and_its_cards() -> None:
    order = launches([cell(tp=2), cell(tp=2, concurrency=2)], [arm("a")], 2)

    expected = expected_time(order)

    assert expected.wall_s == 2 * (30 + 2 * 2 * 5)
    assert expected.card_s == 2 * expected.wall_s
