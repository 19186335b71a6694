"""`kunline stack diff`: changed components, and defaults that changed without anybody asking."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli import runner_side
from service.cli import stack as command
from service.cli.stack import difference, page, stacks
from service.domain.layer import Layer
from service.domain.server_arguments import has_other_names, normalised, spelled
from service.domain.stack import Component, SwapScope
from service.domain.stack_difference import Flag, changed_defaults, widest_scope
from service.formats.chosen_stacks import ChosenStack, chosen, with_overrides
from service.formats.matrix_files import read_matrix
from service.formats.stack_differences import FlagRead, FlagsAnswer, FlagsQuestion
from tests.golden_file import assert_golden
from tests.matrix_directory import matrix_directory

OLDER = FlagsAnswer(
    release="0.5.18",
    flags=(
        FlagRead(spellings=("tp-size", "tensor-parallel-size"), default=1),
        FlagRead(spellings=("page-size",), default=None),
        FlagRead(spellings=("swa-full-tokens-ratio",), default=0.8),
        FlagRead(spellings=("dcp-comm-backend",), default="ag_rs"),
        FlagRead(spellings=("cuda-graph-max-bs-decode",), default=None),
        FlagRead(
            spellings=("cuda-graph-max-bs",), default=None, instead="cuda-graph-max-bs-decode"
        ),
        FlagRead(spellings=("nsa-decode-backend",), default="auto"),
        FlagRead(spellings=("prefill-cp-mode",), default="in-seq-split", instead="cp-strategy"),
        FlagRead(spellings=("cp-strategy",), default=None),
        FlagRead(spellings=("enable-dp-attention",), default=False),
        FlagRead(spellings=("elastic-ep-rejoin",), default=False),
    ),
)
NEWER = FlagsAnswer(
    release="0.5.23",
    flags=(
        FlagRead(spellings=("tp-size", "tensor-parallel-size"), default=1),
        FlagRead(spellings=("page-size",), default=64),
        FlagRead(spellings=("swa-full-tokens-ratio",), default=None),
        FlagRead(spellings=("dcp-comm-backend",), default="ag_rs"),
        FlagRead(spellings=("cuda-graph-max-bs-decode",), default=None),
        FlagRead(spellings=("dsa-decode-backend",), default="triton"),
        FlagRead(spellings=("cp-strategy",), default=None),
        FlagRead(spellings=("attn-dp-size",), default=1),
        FlagRead(spellings=("enable-dp-attention",), default=False, instead="attn-dp-size <size>"),
        FlagRead(spellings=("prefill-delays",), default=(1, 2)),
    ),
)


def answering(questions: Sequence[FlagsQuestion]) -> Sequence[FlagsAnswer]:
    return [OLDER if "0.5.18" in question.stack else NEWER for question in questions]


def stack_of(folder: Path, name: str) -> ChosenStack:
    return chosen(read_matrix(matrix_directory(folder)), name)


def flags(answer: FlagsAnswer) -> list[Flag]:
    return [read.flag() for read in answer.flags]


def test_a_difference_is_told_as_a_person_reads_it(tmp_path: Path) -> None:
    right = with_overrides(stack_of(tmp_path / "right", "cpu-0.5.23"), [("driver", "5.1")])

    found = difference(stack_of(tmp_path, "cpu-0.5.18"), right, build=False, ask=answering)

    assert_golden("stack_diff.txt", page(found) + "\n")


def test_a_default_that_changed_is_told_with_both_values() -> None:
    changed = changed_defaults(flags(OLDER), flags(NEWER)).changed

    assert [(each.flag, each.baseline, each.candidate) for each in changed] == [
        ("dsa-decode-backend", "auto", "triton"),
        ("page-size", None, 64),
        ("swa-full-tokens-ratio", 0.8, None),
    ]


def test_a_renamed_flag_is_neither_added_nor_removed() -> None:
    found = changed_defaults(flags(OLDER), flags(NEWER))

    assert [(each.baseline, each.candidate) for each in found.renamed] == [
        ("cuda-graph-max-bs", "cuda-graph-max-bs-decode"),
        ("enable-dp-attention", "attn-dp-size <size>"),
        ("nsa-decode-backend", "dsa-decode-backend"),
        ("prefill-cp-mode", "cp-strategy"),
    ]
    assert [each.flag for each in found.added] == ["attn-dp-size", "prefill-delays"]
    assert [each.flag for each in found.removed] == ["elastic-ep-rejoin"]


def test_the_same_release_has_no_difference() -> None:
    found = changed_defaults(flags(NEWER), flags(NEWER))

    assert (found.changed, found.renamed, found.added, found.removed) == ((), (), (), ())


def test_recorded_components_do_not_widen_what_is_to_be_restarted(tmp_path: Path) -> None:
    left, right = stack_of(tmp_path, "cpu-0.5.18"), stack_of(tmp_path / "b", "cpu-0.5.23")
    found = difference(left, right, build=False, ask=answering)

    assert widest_scope(found.components) == "process"
    assert widest_scope([each for each in found.components if each.recorded]) is None


def test_what_an_image_does_not_list_is_not_called_absent(tmp_path: Path) -> None:
    left = stack_of(tmp_path, "cpu-0.5.18")
    image = Component("image", "some/image:1", Layer.RUNTIME, SwapScope.CONTAINER)
    kept = [
        each for each in left.stack.components if each.layer is not Layer.PACKAGES or each.recorded
    ]
    right = replace(left, stack=replace(left.stack, components=(*kept, image)))

    text = page(difference(left, right, build=False, ask=answering))

    pinned = len(left.stack.components) - len(kept)
    assert pinned
    assert f"{pinned} more packages are pinned on one side" in text
    assert "image  (absent)  some/image:1" in text


def test_a_stack_without_a_build_leaves_the_defaults_unknown(tmp_path: Path) -> None:
    left, right = stack_of(tmp_path, "cpu-0.5.18"), stack_of(tmp_path / "b", "known-only")
    found = difference(left, right, build=False, ask=answering)

    assert found.defaults.changes is None
    assert "known-only" in found.defaults.unknown[0]
    assert "not known" in page(found)


def test_the_command_prints_one_document_and_exits_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "asked", answering)
    words = [
        "diff",
        "cpu-0.5.18",
        "cpu-0.5.23",
        "--json",
        "--matrix",
        str(matrix_directory(tmp_path)),
    ]

    done = CliRunner().invoke(stacks, words)

    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["defaults"]["candidate_release"] == "0.5.23"
    assert told["components"][0]["scope"] == "process"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["no-such-stack", "cpu-0.5.23"], id="unknown stack"),
        pytest.param(["cpu-0.5.18", "cpu-0.5.23", "--with", "nothing=1"], id="unknown component"),
    ],
)
def test_a_wrong_question_exits_2(tmp_path: Path, words: list[str]) -> None:
    done = CliRunner().invoke(stacks, ["diff", *words, "--matrix", str(matrix_directory(tmp_path))])

    assert done.exit_code == 2


def test_a_side_that_ends_without_an_answer_exits_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_side, "module", lambda name: ["false", name])
    words = ["diff", "cpu-0.5.18", "cpu-0.5.23", "--matrix", str(matrix_directory(tmp_path))]

    done = CliRunner().invoke(stacks, words)

    assert done.exit_code == 1
    assert done.stderr.endswith("defaults: runners.flags ended with 1; stderr says more\n")


@pytest.mark.parametrize(
    ("known", "words"),
    [
        pytest.param({"cuda-graph-max-bs"}, {"cuda-graph-max-bs": 32}, id="an older release"),
        pytest.param(
            {"cuda-graph-max-bs", "cuda-graph-max-bs-decode"},
            {"cuda-graph-max-bs-decode": 32},
            id="a release that takes both",
        ),
        pytest.param(set(), {"cuda-graph-max-bs-decode": 32}, id="a release that takes neither"),
    ],
)
def test_a_renamed_flag_is_spelled_as_the_release_takes_it(
    known: set[str], words: dict[str, int]
) -> None:
    asked = normalised({"--cuda_graph_max_bs": 32})

    assert asked == {"cuda-graph-max-bs-decode": 32}
    assert has_other_names(asked)
    assert spelled(asked, known) == words


def test_a_flag_of_one_name_needs_no_parser_to_be_asked() -> None:
    assert not has_other_names({"tp-size": 2, "mem-fraction-static": 0.5, "device": "cpu"})
