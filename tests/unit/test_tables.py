"""What a stack said of its failure is printed as it is, brackets and all."""

import pytest

from service.cli import tables
from service.cli.answers.words import Language
from service.cli.tables import print_table
from service.cli.verdict_table import print_verdicts
from service.cli.verdict_words import CATALOGUES
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.formats.verdicts import ComparisonRead, DifferenceRead, VerdictRead
from tests.compared_cell import compared_cell
from tests.golden_file import assert_golden

ODD = "[/usr/lib] no module [red]named[/red] x"


def cell(comparison: ComparisonRead, *, title: str = "8k→1k") -> CellComparison:
    return compared_cell(
        comparison,
        title=title,
        resolution=(
            DifferenceRead(field="page_size", baseline="64", candidate="128"),
            DifferenceRead(field="version", baseline="1", candidate="2"),
        ),
    )


def verdict(**more: object) -> VerdictRead:
    given = {
        "metric": "ttft_p50",
        "outcome": Outcome.INCONCLUSIVE,
        "worsening": 0.031,
        "low": -0.01,
        "high": 0.07,
        "tolerance": 0.1,
        "smallest_detectable": 0.12,
        "reason": "too wide",
        "warnings": (),
        "baseline": 0.25,
        "candidate": 0.26,
    }
    return VerdictRead.model_validate({**given, **more})


def comparison(*verdicts: VerdictRead, **more: object) -> ComparisonRead:
    given = {"comparable": True, "outcome": Outcome.INCONCLUSIVE, "differences": ()}
    return ComparisonRead.model_validate({**given, "verdicts": verdicts, **more})


def test_brackets_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("what",), [(ODD,)])

    assert ODD in capsys.readouterr().out


def test_a_verdict_has_its_values_its_interval_and_what_would_have_been_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settled = ("page size: 64 → 128, not asked for",)
    print_verdicts([cell(comparison(verdict(), warnings=settled))])

    said = capsys.readouterr().out
    for part in ("250.00 ms", "260.00 ms", "+3.1 %", "-1.0 % to +7.0 %", "from 12.0 % on"):
        assert part in said
    assert "note: page size: 64 → 128, not asked for" in said
    assert "version" not in said


def test_a_narrow_window_gets_whole_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "WIDTH_ELSEWHERE", 60)

    print_verdicts([cell(comparison(verdict()))])

    line = capsys.readouterr().out.splitlines()[1]
    assert line == (
        "  inconclusive ttft_p50: 250.00 ms → 260.00 ms, +3.1 % worse (-1.0 % to +7.0 %), "
        "would have seen from 12.0 % on"
    )


def test_a_cell_without_a_verdict_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    broken = comparison(outcome=Outcome.BROKEN, warnings=(ODD,))

    print_verdicts([cell(broken)])

    said = capsys.readouterr().out
    assert "broken" in said
    assert f"note: {ODD}" in said


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("width", [200, 100])
def test_verdicts_read_well(
    width: int,
    language: Language,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tables, "WIDTH_ELSEWHERE", width)
    missing = {"outcome": Outcome.MISSING, "worsening": None, "low": None, "high": None}
    unjudged = verdict(
        **missing,
        baseline=None,
        candidate=None,
        smallest_detectable=None,
        reason="candidate: broken at server: no port; it died",
    )
    refused = comparison(
        outcome=Outcome.NOT_COMPARABLE,
        differences=(DifferenceRead(field="tp", baseline="1", candidate="2"),),
        warnings=("not interleaved: measured at another time",),
    )

    print_verdicts([cell(comparison(verdict(), unjudged)), cell(refused)], language)

    assert_golden(f"verdicts_{width}.{language}.txt", capsys.readouterr().out)


def test_both_languages_have_the_same_words() -> None:
    assert CATALOGUES[Language.EN].keys() == CATALOGUES[Language.ZH].keys()
    assert {f"outcome {each}" for each in Outcome} <= CATALOGUES[Language.EN].keys()
