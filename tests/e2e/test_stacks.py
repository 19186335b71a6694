"""The two CPU stacks are built from their locks, and hold what these pin."""

import os
from pathlib import Path

import pytest

from runners.stacks.environment import Environment, Recipe, build
from runners.stacks.measured import measured_versions
from service.domain.stack import drift
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.identities import BuildOrder
from service.formats.matrix_files import read_matrix

pytestmark = [pytest.mark.sglang, pytest.mark.timeout(1800)]

MATRIX = Path(__file__).parents[2] / "matrix"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "kunline"
STACKS = ["cpu-sglang-0.5.18", "cpu-sglang-0.5.23"]


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
