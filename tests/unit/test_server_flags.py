"""What an installed release tells of its flags: asked once, kept by the environment's digest."""

import base64
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runners.flags import answered
from runners.stacks import server_flags as asking
from runners.stacks.measured import ProbeError
from runners.stacks.server_flags import server_flags
from service.formats.stack_differences import FlagsQuestion

SERVER_ARGS = '''
import argparse

print("a library that talks while it is imported")


class DeprecatedAction(argparse.Action):
    """Says that a flag is gone."""


class DeprecatedAlias(argparse.Action):
    """Stands for another flag."""

    def __init__(self, new_flag=None, **more):
        self.new_flag = new_flag
        super().__init__(**more)


class ServerArgs:
    """No dataclass."""

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--tp-size", "--tensor-parallel-size", type=int, default=1)
        parser.add_argument("--ratio", type=float, default=float("inf"))
        parser.add_argument("--sizes", nargs="+", default=(1, 2))
        parser.add_argument("--nsa-backend", action=DeprecatedAlias, new_flag="--dsa-backend")
        parser.add_argument("--gone", action=DeprecatedAction)
'''
METADATA = "Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.99\n"


def environment(folder: Path, server_args: str = SERVER_ARGS) -> Path:
    """Return the Python of an environment whose SGLang is made up."""
    python = folder / "digest" / "bin" / "python"
    python.parent.mkdir(parents=True)
    packages = folder / "packages"
    (packages / "sglang" / "srt").mkdir(parents=True)
    (packages / "sglang" / "srt" / "server_args.py").write_text(server_args)
    (packages / "sglang-0.5.99.dist-info").mkdir()
    (packages / "sglang-0.5.99.dist-info" / "METADATA").write_text(METADATA)
    run = f"import runpy, sys; sys.path.insert(0, {str(packages)!r})"
    python.write_text(
        f"#!/bin/sh\nexec {sys.executable} -I -c "
        f"\"{run}; runpy.run_path('$2', run_name='__main__')\"\n"
    )
    python.chmod(0o755)
    return python


def test_a_parser_tells_spellings_defaults_and_what_to_use_instead(tmp_path: Path) -> None:
    told = server_flags(environment(tmp_path), cache=tmp_path, variables={})

    assert told.release == "0.5.99"
    assert [(flag.spellings, flag.default, flag.instead) for flag in told.flags] == [
        (("tp-size", "tensor-parallel-size"), 1, None),
        (("ratio",), "inf", None),
        (("sizes",), (1, 2), None),
        (("nsa-backend",), None, "dsa-backend"),
    ]


def test_an_environment_is_asked_once(tmp_path: Path) -> None:
    python = environment(tmp_path)
    first = server_flags(python, cache=tmp_path, variables={})
    python.unlink()

    assert server_flags(python, cache=tmp_path, variables={}) == first


def test_a_server_that_cannot_be_imported_is_told_with_its_own_words(tmp_path: Path) -> None:
    python = environment(tmp_path, "raise ImportError('no libcuda.so.1 here')")

    with pytest.raises(ProbeError, match=r"no libcuda\.so\.1 here"):
        server_flags(python, cache=tmp_path, variables={})


def test_what_is_not_built_is_said_and_not_built_unasked(tmp_path: Path) -> None:
    question = FlagsQuestion(stack="some", lock=base64.b64encode(b"sglang==1\n"))

    assert answered(question, cache=tmp_path).unknown == "stack some is not built here"
    assert not (tmp_path / "environments").exists()


def test_one_environment_may_be_asked_for_two_stacks_at_once(tmp_path: Path) -> None:
    python = environment(tmp_path)

    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda _: server_flags(python, cache=tmp_path, variables={}), range(8))
        )

    assert {answer.release for answer in answers} == {"0.5.99"}
    assert [each.name for each in (tmp_path / "flags").iterdir()] == ["digest-1.json"]


def test_an_answer_that_cannot_be_kept_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "flags").write_text("a file where the folder should be")

    told = server_flags(environment(tmp_path), cache=tmp_path, variables={})

    assert told.release == "0.5.99"


def test_a_half_written_answer_is_asked_again(tmp_path: Path) -> None:
    python = environment(tmp_path)
    kept = tmp_path / "flags" / f"digest-{asking.PROBE_REVISION}.json"
    kept.parent.mkdir()
    kept.write_text('{"release": "0.5')

    assert server_flags(python, cache=tmp_path, variables={}).release == "0.5.99"
