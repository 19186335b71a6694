"""What a profiled pass tells: windows of passes, messages without waiting, stages of a pipeline."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.profile import Span, Stage, Step, Track, own_seconds, profile_of

# A pass each 10 ms from 0 on: one prefill, then five tokens; two sums in each, 1 ms long.
PERIOD, SUM = 0.010, 0.001
BEGINS = [number * PERIOD for number in range(6)]
STEPS = [Step(Stage.DECODE if at else Stage.PREFILL, Span("step", at, 0.008)) for at in BEGINS]


def sums(longer_s: float = 0.0) -> Sequence[Span]:
    return [
        Span("gloo:all_reduce", at + into, SUM + longer_s)
        for at in BEGINS
        for into in (0.001, 0.004)
    ]


RANK = Track(0, 0, STEPS, sums(), {"aten::mm": 0.02, "aten::add": 0.01})


def test_a_decoded_token_is_from_one_pass_to_the_next() -> None:
    decode = profile_of([RANK]).stages[Stage.DECODE]

    # The first of a run may still wait for a prefill, and the last has no next.
    assert decode.passes == 3
    assert decode.pass_s == pytest.approx(PERIOD)
    assert decode.messages == pytest.approx(2)
    assert decode.share == pytest.approx(2 * SUM / PERIOD)
    assert decode.waiting_s is None


def test_a_prefill_ends_with_its_pass() -> None:
    prefill = profile_of([RANK]).stages[Stage.PREFILL]

    assert prefill.passes == 1
    assert prefill.pass_s == pytest.approx(0.008)
    assert prefill.message_s == pytest.approx(2 * SUM)


def test_who_comes_first_waits_and_a_message_takes_until_the_last_goes_on() -> None:
    """A sum each: one comes 2 ms before the other, who is held up .3 ms longer in it."""
    early = replace(RANK, spans=sums(longer_s=0.002))
    later = [Span(each.name, each.begin_s + 0.002, SUM + 0.0003) for each in sums()]
    late = replace(RANK, tensor_rank=1, spans=later)

    decode = profile_of([early, late]).stages[Stage.DECODE]

    assert decode.message_s == pytest.approx(2 * (SUM + 0.0003))
    assert decode.waiting_s == pytest.approx(2 * 0.002)


@pytest.mark.parametrize(
    ("apart_s", "on_device"),
    [
        pytest.param(1.0, False, id="on hosts whose clocks differ"),
        pytest.param(0.0, True, id="on cards"),
    ],
)
def test_where_ends_cannot_be_compared_the_shortest_span_is_the_message(
    apart_s: float, on_device: bool
) -> None:
    early = replace(RANK, spans=sums(longer_s=0.002), on_device=on_device)
    later = [replace(each, begin_s=each.begin_s + apart_s) for each in sums()]
    late = replace(early, tensor_rank=1, spans=later)

    decode = profile_of([early, late]).stages[Stage.DECODE]

    assert decode.message_s == pytest.approx(2 * SUM)
    assert decode.waiting_s == pytest.approx(2 * 0.002)


def test_ranks_whose_messages_differ_are_not_put_beside_each_other() -> None:
    other = replace(RANK, tensor_rank=1, spans=sums()[:-1])

    assert profile_of([RANK, other]).stages[Stage.DECODE].waiting_s is None


def test_what_the_scheduler_tells_its_ranks_is_kept_apart() -> None:
    told = [*sums(), Span("gloo:broadcast", BEGINS[3] + 0.0085, 0.0005)]

    decode = profile_of([replace(RANK, spans=told)]).stages[Stage.DECODE]

    assert decode.message_s == pytest.approx(2 * SUM)
    assert decode.other_s == pytest.approx(0.0005 / 3)


@pytest.mark.parametrize(
    "name",
    [
        "gloo:all_reduce",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        "gloo:_all_gather_base",
        "bkcl_all_gather_kernel",
        "reduce_scatter_kernel",
    ],
)
def test_a_sum_or_a_gather_is_known_by_any_librarys_name(name: str) -> None:
    assert replace(RANK, spans=[Span(name, 0, 1)]).messages


def test_too_few_tokens_tell_nothing_of_a_token() -> None:
    assert Stage.DECODE not in profile_of([replace(RANK, steps=STEPS[:3])]).stages
    assert profile_of([]).stages == {}


def test_stages_of_a_pipeline_are_told_apart_by_what_they_compute() -> None:
    slow = [Step(step.stage, replace(step.span, seconds=0.009)) for step in STEPS]
    second = replace(RANK, pipeline_rank=1, steps=slow)

    found = profile_of([second, RANK]).pipeline

    decodes = [each for each in found if each.stage is Stage.DECODE]
    assert [each.pipeline_rank for each in decodes] == [0, 1]
    assert [each.compute_s for each in decodes] == pytest.approx([0.006, 0.007])
    assert profile_of([RANK]).pipeline == ()


def test_on_a_card_a_stage_is_what_it_was_busy_with_and_a_prefill_ends_behind_its_host() -> None:
    kernels = [Span("gemm", at + 0.002, 0.003) for at in BEGINS]
    card = replace(RANK, spans=[*kernels, *sums()], on_device=True)

    found = profile_of([card, replace(card, pipeline_rank=1)])

    assert found.stages[Stage.PREFILL].pass_s == pytest.approx(2 * PERIOD)
    (first, *_) = (each for each in found.pipeline if each.stage is Stage.DECODE)
    assert first.compute_s == pytest.approx(0.003)


def test_what_lies_within_is_not_counted_twice() -> None:
    nested = [Span("linear", 0, 10), Span("addmm", 2, 5), Span("copy", 3, 1), Span("add", 12, 1)]

    assert own_seconds(nested) == pytest.approx({"linear": 5, "addmm": 4, "copy": 1, "add": 1})


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 5)), max_size=20))
def test_own_seconds_of_spans_beside_each_other_add_up(found: list[tuple[int, int]]) -> None:
    spans, end = [], 0.0
    for gap, seconds in found:
        spans.append(Span(f"op{gap % 3}", end + gap, float(seconds)))
        end += gap + seconds

    assert sum(own_seconds(spans).values()) == pytest.approx(sum(each.seconds for each in spans))
