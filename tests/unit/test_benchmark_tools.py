"""The command line of a repeat: everything a condition asks for, and nothing by default."""

from pathlib import Path

import pytest

from runners.benchmarks.tools import (
    BATCH,
    SERVING,
    Target,
    UnsupportedTrafficError,
    arguments,
    lowest_ratio,
    tool_of,
)
from service.domain.condition import Condition, Load
from tests.runner_orders import TRAFFIC, condition

TARGET = Target("127.0.0.1", 31000, "/models/tiny")


def line(asked: Condition) -> str:
    return " ".join(arguments(asked, TARGET, seed=7, output=Path("/launch/out.jsonl")))


def test_a_closed_load_is_said_in_full() -> None:
    assert line(condition()) == (
        "--backend sglang --host 127.0.0.1 --port 31000 "
        "--model /models/tiny --tokenizer /models/tiny "
        "--tokenize-prompt --num-prompts 24 --dataset-name random-ids --random-range-ratio 1.0 "
        "--random-input-len 128 --random-output-len 32 --max-concurrency 4 "
        "--warmup-requests 2 --flush-cache --seed 7 --output-file /launch/out.jsonl --disable-tqdm"
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        pytest.param(
            condition(load=Load.OPEN, rate=2.5, concurrency=None),
            "--request-rate 2.5",
            id="an open load has a rate",
        ),
        pytest.param(
            condition(lengths="uniform(0.5,1.0)"), "--random-range-ratio 0.5", id="drawn lengths"
        ),
        pytest.param(condition(ignore_eos=False), "--disable-ignore-eos", id="EOS is honoured"),
        pytest.param(condition(temperature=0.7), "--temperature 0.7", id="sampling"),
        pytest.param(
            condition(dataset="generated-shared-prefix", shared_prefix_tokens=96),
            "--dataset-name generated-shared-prefix --gsp-num-groups 1 "
            "--gsp-prompts-per-group 24 --gsp-range-ratio 1.0 --gsp-system-prompt-len 96 "
            "--gsp-question-len 32 --gsp-output-len 32",
            id="a shared prefix",
        ),
    ],
)
def test_what_a_condition_asks_for_stands_in_the_line(asked: Condition, words: str) -> None:
    assert words in line(asked)


def test_an_open_load_without_a_bound_has_no_concurrency() -> None:
    assert "--max-concurrency" not in line(condition(load=Load.OPEN, rate=2.5, concurrency=None))


def test_a_kept_cache_is_not_flushed() -> None:
    assert "--flush-cache" not in line(condition(cache="kept"))


def test_a_fixed_batch_is_driven_by_the_batch_tool() -> None:
    asked = condition(load=Load.BATCH)

    assert tool_of(asked) is BATCH
    assert tool_of(condition()) is SERVING
    assert "--batch-size 4 --dataset-name random-ids --input-len 128 --output-len 32" in line(asked)
    assert "--skip-warmup --seed 7" in line(asked)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(condition(dataset="sharegpt"), id="a dataset that would be downloaded"),
        pytest.param(condition(lengths="uniform(0.5,1.5)"), id="lengths above the full one"),
        pytest.param(condition(concurrency=None), id="a closed load without concurrency"),
        pytest.param(condition(load=Load.OPEN, rate=None), id="an open load without rate"),
        pytest.param(condition(shared_prefix_tokens=128), id="a prefix as long as the prompt"),
        pytest.param(
            condition(load=Load.BATCH, lengths="uniform(0.5,1.0)"), id="a batch of drawn lengths"
        ),
    ],
)
def test_what_the_tool_cannot_drive_is_refused(asked: Condition) -> None:
    with pytest.raises(UnsupportedTrafficError):
        line(asked)


def test_fixed_lengths_have_a_ratio_of_one() -> None:
    assert lowest_ratio(TRAFFIC) == 1.0
