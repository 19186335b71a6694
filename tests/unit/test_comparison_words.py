"""What a person reads of `kunline compare`, whole and in either language."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from service.cli.answers.words import Language
from service.cli.compare import compare
from service.cli.comparison_words import CATALOGUES
from tests.golden_file import assert_golden
from tests.results import scaled, serving, write
from tests.unit.test_compare import FASTER, SLOWER, STEADY, TRITON, WILD

app = typer.Typer()
app.command()(compare)


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "base.jsonl", scaled(*STEADY))


def bare(results: list[dict[str, Any]], *options: str) -> Result:
    write(Path("candidate.jsonl"), results)
    return CliRunner().invoke(app, ["base.jsonl", "candidate.jsonl", *options])


def against(results: list[dict[str, Any]], *options: str) -> Result:
    return bare(results, "--assume-same", "all", *options)


def golden(name: str, language: Language) -> str:
    return f"compare_{name}.txt" if language is Language.EN else f"compare_{name}.{language}.txt"


def values_of(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("regressed", scaled(*SLOWER)),
        ("inconclusive", scaled(*WILD, duration=1.4)),
        ("not_comparable", scaled(*STEADY, max_concurrency=16)),
        ("mixed", [*scaled(1.0, 1.0), *scaled(1.0, max_concurrency=16)]),
        ("invalid", scaled(*STEADY, total_output_tokens_retokenized=0)),
        ("invalid_twice", [serving(median_ttft_ms=0.0, completed=48)]),
        ("unchanged", scaled(*STEADY)),
        ("improved", scaled(*FASTER)),
        ("missing", [serving(output_throughput=None)] * 5),
        ("settled_differently", scaled(*SLOWER, server_info=TRITON)),
    ],
)
def test_a_person_reads_one_line_a_verdict(
    name: str, results: list[dict[str, Any]], language: Language
) -> None:
    assert_golden(golden(name, language), against(results, "--lang", language).stdout)


@pytest.mark.parametrize("language", list(Language))
def test_a_person_reads_what_bare_files_do_not_tell_and_what_to_add(language: Language) -> None:
    told = bare(scaled(*STEADY, server_info=None), "--lang", language).stdout

    assert_golden(golden("incomplete", language), told)


@pytest.mark.parametrize("language", list(Language))
def test_a_person_reads_what_an_insufficient_baseline_lacks(language: Language) -> None:
    write(Path("base.jsonl"), scaled(*STEADY[:4]))

    told = against(scaled(*STEADY), "--lang", language).stdout

    assert_golden(golden("insufficient_baseline", language), told)


def test_a_chinese_reader_is_told_in_chinese_why_an_assumption_is_refused() -> None:
    options = ("--assume-same", "concurrency=9", "--lang", "zh")

    assert (
        "concurrency 被假定为 9，而基线给出 8：假定不能推翻文件"
        in bare(scaled(*STEADY), *options).stderr
    )


def test_both_languages_have_the_same_words_and_fill_in_the_same_values() -> None:
    english, chinese = (CATALOGUES[each] for each in (Language.EN, Language.ZH))

    assert english.keys() == chinese.keys()
    assert [key for key in english if values_of(english[key]) != values_of(chinese[key])] == []
