"""A cell's title: a few words a person tells cells apart by."""

from dataclasses import replace

import pytest

from service.domain.cell import title
from service.domain.condition import Condition, Load, Parallelism
from tests.integration import builders

CLOSED = builders.condition(concurrency=4, tp=2)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        pytest.param(CLOSED, "tiny 2×cpu tp2 64→16 concurrency 4", id="closed loop"),
        pytest.param(
            replace(CLOSED, traffic=replace(CLOSED.traffic, load=Load.OPEN, rate=2.5)),
            "tiny 2×cpu tp2 64→16 rate 2.5/s",
            id="open loop",
        ),
        pytest.param(
            replace(CLOSED, traffic=replace(CLOSED.traffic, load=Load.BATCH)),
            "tiny 2×cpu tp2 64→16 batch 4",
            id="fixed batch",
        ),
        pytest.param(
            replace(CLOSED, traffic=replace(CLOSED.traffic, shared_prefix_tokens=512)),
            "tiny 2×cpu tp2 64→16 prefix 512 concurrency 4",
            id="shared prefix",
        ),
        pytest.param(
            replace(CLOSED, parallelism=Parallelism(tp=2, dp=4)),
            "tiny 2×cpu tp2 dp4 64→16 concurrency 4",
            id="two degrees",
        ),
    ],
)
def test_a_title_says_what_differs_most(condition: Condition, words: str) -> None:
    assert title(condition) == words
