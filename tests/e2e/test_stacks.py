"""The two CPU stacks are built from their locks, and the real server of each answers alike."""

import os
from pathlib import Path

import httpx
import pytest

from runners.devices.cpu import CpuDevice
from runners.stacks.environment import Environment, Recipe, build
from runners.stacks.measured import measured_versions
from runners.stacks.server import Launch, serving
from runners.stacks.tiny_model import TinyLlama, made
from service.domain.stack import drift
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.identities import BuildOrder
from service.formats.matrix_files import read_matrix

pytestmark = [pytest.mark.sglang, pytest.mark.timeout(1800)]

MATRIX = Path(__file__).parents[2] / "matrix"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "kunline"
STACKS = ["cpu-sglang-0.5.18", "cpu-sglang-0.5.23"]
PROMPT = " kato mire sonu"

# The greedy answer of both releases, seen on one rank and on two.
ANSWER_TOKENS = 12


def built(stack: ChosenStack) -> Environment:
    assert isinstance(stack.build, BuildOrder)
    assert stack.lock is not None
    return build(
        Recipe(stack.lock.content, stack.build.torch, stack.build.platform),
        cache=CACHE,
        variables=os.environ,
        progress=lambda text, _: print(text),  # noqa: T201 (shown when the test fails)
    )


@pytest.mark.parametrize("name", STACKS)
def test_what_is_installed_is_what_the_stack_file_pins(name: str) -> None:
    stack = chosen(read_matrix(MATRIX), name)

    observed = measured_versions(built(stack).python)

    assert drift(stack.stack, observed) == ()
    pinned = {part.name for part in stack.stack.components if not part.recorded}
    assert pinned - set(observed) == set()


def greedy_answer(name: str, *, ranks: int, log: Path) -> list[int]:
    matrix = read_matrix(MATRIX)
    model = matrix.models.named("tiny-llama").shape
    assert model.maker is not None
    recipe = {key: int(value) for key, value in model.maker.items() if key != "kind"}
    device = CpuDevice()
    launch = Launch(
        python=built(chosen(matrix, name)).python,
        model=made(TinyLlama(**recipe), cache=CACHE),
        served_name=model.id,
        arguments={**model.server.arguments, "tp-size": ranks},
        variables=device.environment(device.cards()[:ranks]),
        log=log,
    )
    sampling = {"temperature": 0, "max_new_tokens": ANSWER_TOKENS, "ignore_eos": True}
    with serving(launch, inherited=os.environ, start_limit_s=300) as server:
        answer = httpx.post(
            f"{server.base_url}/generate",
            json={"text": PROMPT, "sampling_params": sampling},
            timeout=60,
            trust_env=False,
        ).json()
    tokens: list[int] = answer["output_ids"]
    return tokens


def test_both_releases_answer_alike_on_one_rank_and_on_two(tmp_path: Path) -> None:
    older, newer = STACKS
    answers = [
        greedy_answer(older, ranks=1, log=tmp_path / "older.log"),
        greedy_answer(newer, ranks=min(2, os.cpu_count() or 1), log=tmp_path / "newer.log"),
    ]

    assert answers[0] == answers[1]
    assert len(answers[0]) == ANSWER_TOKENS
