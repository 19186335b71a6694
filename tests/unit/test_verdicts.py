"""Verdicts as they are answered: what was not estimated is null, and nothing is lost on the way."""

from service.domain.comparison import Comparison
from service.domain.difference import Difference
from service.domain.metric import METRICS
from service.domain.verdict import Outcome, judge_samples
from service.formats.verdicts import ComparisonRead, VerdictRead

TTFT = METRICS["ttft_p50"]
JUDGED = judge_samples(TTFT, [[1.0, 1.1, 1.0], [1.0, 1.1, 1.2]], [[1.0, 1.1, 1.0]], tolerance=0.1)
MISSING = judge_samples(TTFT, [[1.0] * 5], [], tolerance=0.1)


def test_a_verdict_keeps_its_interval_and_levels() -> None:
    answer = VerdictRead.of(JUDGED)

    assert JUDGED.worsening is not None
    assert (answer.low, answer.worsening, answer.high) == (
        JUDGED.worsening.low,
        JUDGED.worsening.center,
        JUDGED.worsening.high,
    )
    assert (answer.baseline, answer.candidate) == (JUDGED.baseline, JUDGED.candidate)


def test_what_was_not_estimated_is_null() -> None:
    answer = VerdictRead.of(MISSING)

    assert (answer.low, answer.worsening, answer.high) == (None, None, None)
    assert answer.smallest_detectable is None
    assert (answer.baseline, answer.candidate) == (1.0, None)


def test_an_answer_survives_the_wire() -> None:
    answer = ComparisonRead.of(
        Comparison(
            comparable=False,
            outcome=Outcome.NOT_COMPARABLE,
            differences=(Difference("tp", "1", "2"),),
            verdicts=(JUDGED, MISSING),
            warnings=("only one side tells dtype",),
        )
    )

    assert ComparisonRead.model_validate_json(answer.model_dump_json()) == answer
