"""What became of real gates of a stack against itself, beside what the variances predict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from scipy.stats import binom

from service.domain.ci_gate import Counts, Looks, Standing, planned_chances
from service.domain.metric import METRICS
from service.domain.noise import Noise, expected_of
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateCell, GateVerdict
from service.stats.gate_power import Chances

# By condition and metric.
Known = Mapping[tuple[str, str], Noise]

# Of the plan that these gates are asked by: `matrix/plans/pr-cpu.yaml`.
LOOKS, REPEATS, CONFIDENCE = Looks((2, 4)), 3, 0.95
WORDS = {
    0: (Outcome.UNCHANGED, Outcome.IMPROVED),
    3: (Outcome.REGRESSED,),
    4: (Outcome.INCONCLUSIVE,),
}


@dataclass(frozen=True, slots=True)
class Range:
    """The chance of a word for a whole gate, from least to most.

    Its metrics are of the same launches: the chance lies between that of metrics that know nothing
    of each other and that of metrics that move as one.
    """

    least: float
    most: float

    def counts(self, gates: int) -> tuple[int, int]:
        """Return between which counts 95 of 100 such rows of gates lie."""
        return int(binom.ppf(0.025, gates, self.least)), int(binom.ppf(0.975, gates, self.most))


def said(answers: Sequence[GateAnswer], known: Known) -> Iterator[str]:
    """Yield lines: of the gates as a whole, then of each metric.

    Codes are those of a plan that lets an inconclusive gate block, whatever these gates' plan does.
    """
    counted = [
        (cell, each) for cell in answers[0].cells for each in cell.verdicts if _counts(cell, each)
    ]
    predicted = of_gates([_chances(cell, each, known) for cell, each in counted])
    yield "code  gates  share  predicted  95 % of rows of so many gates have"
    for code, words in WORDS.items():
        seen = sum(answer.outcome in words for answer in answers)
        expected = predicted[code]
        least, most = expected.counts(len(answers))
        yield (
            f"{code:4}  {seen:5}  {seen / len(answers):5.0%}  "
            f"{expected.least:.1%} to {expected.most:.1%}  {least} to {most}"
        )
    others = [answer.outcome for answer in answers if answer.outcome not in sum(WORDS.values(), ())]
    yield f"other words: {', '.join(map(str, others)) or 'none'}"
    yield "metric  unchanged or improved: seen, predicted  regressed: seen, predicted"
    yield from _by_metric(answers, known)


def of_gates(metrics: Sequence[Chances]) -> Mapping[int, Range]:
    """Return by exit code what becomes of gates that count these metrics, each with its chances."""
    passed = [each.unchanged + each.improved for each in metrics]
    regressed = [each.regressed for each in metrics]
    whole = Range(prod(passed), min(passed))
    false = Range(max(regressed), 1 - prod(1 - each for each in regressed))
    left = Range(max(0.0, 1 - whole.most - false.most), 1 - whole.least - false.least)
    return {0: whole, 3: false, 4: left}


def _by_metric(answers: Sequence[GateAnswer], known: Known) -> Iterator[str]:
    for cell in answers[0].cells:
        for first in cell.verdicts:
            name = first.verdict.metric
            words = [word for answer in answers for word in _words(answer, cell.title, name)]
            passed = sum(word in WORDS[0] for word in words) / len(words)
            regressed = words.count(Outcome.REGRESSED) / len(words)
            predicted = _chances(cell, first, known)
            yield (
                f"{name:18} {first.counts:8} {passed:.0%}, "
                f"{predicted.unchanged + predicted.improved:.0%}  "
                f"{regressed:.0%}, {predicted.regressed:.1%}"
            )


def _words(answer: GateAnswer, title: str, metric: str) -> Iterator[Outcome]:
    for cell in answer.cells:
        for each in cell.verdicts:
            if (cell.title, each.verdict.metric) == (title, metric):
                yield each.verdict.outcome


def _counts(cell: GateCell, verdict: GateVerdict) -> bool:
    return cell.standing is Standing.GATES and verdict.counts is Counts.COUNTED


def _chances(cell: GateCell, verdict: GateVerdict, known: Known) -> Chances:
    name = verdict.verdict.metric
    return planned_chances(
        expected_of(METRICS[name], known.get((cell.condition_key, name))),
        LOOKS,
        repeats=REPEATS,
        tolerance=verdict.verdict.tolerance,
        worsening=0.0,
        confidence=CONFIDENCE,
    )
