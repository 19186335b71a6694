"""What cards tell each other: volumes, the measured curve, the shares, and the slow link."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.communication import (
    Curve,
    Kind,
    NoCurveError,
    Shape,
    decoding,
    prefill,
    slow_links,
    volume,
)

MIB = 2**20
LLAMA = Shape(hidden=4096, layers=32, vocabulary=128_256, value_bytes=2)
# 20 microseconds of latency, then 20 GB/s.
CURVE = Curve({2**10: 20e-6, 2**16: 22e-6, 2**20: 60e-6, 2**26: 3.36e-3})


def test_a_sum_of_eight_prompts_of_2048_tokens_at_hidden_4096_in_two_bytes_is_128_mib() -> None:
    found = volume(LLAMA, tokens=8 * 2048, sequences=8, ranks=8)

    assert found.message_bytes == 128 * MIB


def test_each_layer_sums_twice_and_the_embedding_once() -> None:
    found = volume(LLAMA, tokens=16, sequences=16, ranks=2)

    assert found.sums == 65
    assert found.gathered_bytes == 16 * 128_256 * 2
    assert found.pass_bytes == 65 * 16 * 4096 * 2 + found.gathered_bytes


def test_one_card_tells_nobody_anything() -> None:
    assert volume(LLAMA, tokens=16, sequences=16, ranks=1).pass_bytes == 0
    assert decoding(LLAMA, CURVE, sequences=16, ranks=1).seconds == 0.0


@pytest.mark.parametrize(
    ("size", "seconds"),
    [
        pytest.param(1, 20e-6, id="below the smallest it is latency"),
        pytest.param(2**10, 20e-6, id="a measured size"),
        pytest.param(2**18, (22e-6 * 60e-6) ** 0.5, id="half way on both log scales"),
        pytest.param(2**27, 6.72e-3, id="above the largest it is bandwidth"),
    ],
)
def test_the_time_of_a_message_lies_on_the_measured_curve(size: int, seconds: float) -> None:
    assert CURVE.time_of(size) == pytest.approx(seconds)


def test_a_curve_of_nothing_says_what_to_do() -> None:
    with pytest.raises(NoCurveError, match="run the preflight"):
        Curve({})


@given(st.floats(1, 2**32), st.floats(1.0, 8.0))
def test_a_larger_message_never_takes_less_time(size: float, factor: float) -> None:
    assert CURVE.time_of(size * factor) >= CURVE.time_of(size) * (1 - 1e-12)


def test_decoding_is_many_small_messages_and_a_prefill_few_large_ones() -> None:
    decode = decoding(LLAMA, CURVE, sequences=1, ranks=8)
    whole = prefill(LLAMA, CURVE, tokens=8192, sequences=1, chunk=None, ranks=8)

    assert decode.kind is Kind.MANY_SMALL
    assert whole.kind is Kind.FEW_LARGE
    # Sixty-five latencies, and the gather of 250 KiB.
    assert decode.seconds == pytest.approx(65 * CURVE.time_of(8192) + CURVE.time_of(128_256))
    assert decode.share_of(0.010) == pytest.approx(decode.seconds / 0.010)


def test_the_volume_of_a_prefill_grows_with_the_length_and_the_passes_with_the_chunk() -> None:
    lengths = (2048, 4096, 8192, 16_384)
    found = [
        prefill(LLAMA, CURVE, tokens=each, sequences=1, chunk=8192, ranks=8) for each in lengths
    ]

    assert [each.passes for each in found] == [1, 1, 1, 2]
    assert found[1].seconds / found[0].seconds == pytest.approx(2, rel=0.15)
    assert found[3].seconds == pytest.approx(2 * found[2].seconds)


def test_the_last_chunk_is_what_is_left() -> None:
    whole = prefill(LLAMA, CURVE, tokens=8192, sequences=1, chunk=8192, ranks=2)
    over = prefill(LLAMA, CURVE, tokens=8193, sequences=1, chunk=8192, ranks=2)

    assert over.passes == 2
    one_token = 65 * CURVE.time_of(8192) + CURVE.time_of(128_256)
    assert over.seconds == pytest.approx(whole.seconds + one_token)


CLIQUE = {(0, 1): "XL", (0, 2): "XL", (1, 2): "XL", (0, 3): "SYS", (1, 3): "SYS", (2, 3): "SYS"}


def test_a_link_slower_than_its_peers_is_named() -> None:
    speeds = {(0, 1): 28e9, (0, 2): 12e9, (1, 2): 28e9, (0, 3): 9e9, (1, 3): 9e9, (2, 3): 9e9}

    (found,) = slow_links(speeds, CLIQUE)

    assert found.between == (0, 2)
    assert not found.is_broken
    assert "cards 0 and 2 (XL) runs at 12.00 GB/s" in found.sentence
    assert "28.00 GB/s" in found.sentence


def test_links_of_another_kind_are_no_peers_and_two_of_a_kind_have_none() -> None:
    others = {(0, 1): 28e9, (0, 2): 28e9, (1, 2): 27e9, (0, 3): 9e9, (1, 3): 9e9, (2, 3): 8e9}

    assert slow_links(others, CLIQUE) == ()
    assert slow_links({(0, 1): 28e9, (2, 3): 1e9}, {}) == ()


def test_a_link_far_below_its_peers_is_broken_and_comes_first() -> None:
    speeds = {(0, 1): 2e9, (0, 2): 28e9, (1, 2): 15e9, (2, 3): 28e9, (1, 3): 28e9}

    found = slow_links(speeds, {})

    assert [(link.between, link.is_broken) for link in found] == [((0, 1), True), ((1, 2), False)]
