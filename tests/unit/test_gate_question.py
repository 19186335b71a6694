"""The command that asks a gate again: the same tomorrow as today, and without a secret."""

import pytest

from service.cli.gate_question import command_again
from service.formats.gate_answers import GateOverride

COMMIT = "0123456789abcdef" * 2 + "01234567"
BUILT = GateOverride(
    component="sglang", kind="git", asked="sglang=git:HEAD", version="1+whl.0", commit=COMMIT
)


@pytest.mark.parametrize(
    "named", [("--with", "sglang=git:HEAD"), ("--with=sglang=git:HEAD",)], ids=["apart", "in one"]
)
def test_what_is_measured_again_is_the_commit_and_not_what_its_name_means_by_then(
    named: tuple[str, ...],
) -> None:
    asked = ("gate", "--plan", "pr-cpu", *named, "--with", "torch=2.13.1", "--token", "kl_secret")

    again = command_again(asked, "main", [BUILT], here=True)

    same = ("--plan", "pr-cpu", "--with", f"sglang=git:{COMMIT}", "--with", "torch=2.13.1")
    assert again == ("kunline", "gate", "--local", *same, "--base", "stack:main")


def test_what_only_a_service_knows_is_measured_again_by_the_service() -> None:
    again = command_again(("gate", "--plan", "pr"), "pinned", [], here=False)

    assert again == ("kunline", "gate", "--plan", "pr", "--base", "stack:pinned")
