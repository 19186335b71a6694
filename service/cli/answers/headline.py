"""The sentences that answer the question, before any table."""

from collections.abc import Iterator

from service.cli.answers.pen import Pen
from service.cli.answers.words import Language, say
from service.cli.lines import percent, share
from service.domain.ci_gate import Counts, Standing
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateCell
from service.formats.verdicts import VerdictRead


def headline(answer: GateAnswer, language: Language, pen: Pen) -> str:
    """Return what a gate found in a few sentences, and whether what it cannot tell blocks."""
    return (" " if language is Language.EN else "").join(_sentences(answer, language, pen))


def _sentences(answer: GateAnswer, language: Language, pen: Pen) -> Iterator[str]:
    if answer.state == "cancelled":
        yield say(language, "headline.cancelled")
    key, filled = _sentence(answer, pen)
    counts = {"count": len(_cells(answer)), "of": len(_gating(answer))}
    yield say(language, f"headline.{key}", **counts, **filled)
    if uncounted := _uncounted(answer):
        yield say(language, "uncounted", count=uncounted)
    if answer.outcome is Outcome.INCONCLUSIVE:
        yield say(language, "blocks" if answer.exit_code else "passes")


def _uncounted(answer: GateAnswer) -> int:
    """Return how many verdicts are worse, and why that does not count stands elsewhere."""
    return sum(
        judged.verdict.outcome is Outcome.REGRESSED and judged.counts is not Counts.COUNTED
        for cell in answer.cells
        for judged in cell.verdicts
    )


def counted(answer: GateAnswer) -> Iterator[tuple[GateCell, VerdictRead]]:
    """Yield every verdict that the exit code rests on, with its cell."""
    for cell in answer.cells:
        for judged in cell.verdicts:
            if judged.counts is Counts.COUNTED:
                yield cell, judged.verdict


def _sentence(answer: GateAnswer, pen: Pen) -> tuple[str, dict[str, str]]:
    match answer.outcome:
        case Outcome.REGRESSED:
            return _regressed(answer, pen)
        case Outcome.BROKEN:
            return _broken(answer, pen)
        case Outcome.INCONCLUSIVE if not _cells(answer):
            return "nothing counted", {}
        case Outcome.INCONCLUSIVE:
            effect = _could_have_seen(answer, Outcome.INCONCLUSIVE)
            return ("inconclusive", {"effect": effect}) if effect else ("unknown effect", {})
        case Outcome.UNCHANGED:
            effect = _could_have_seen(answer, Outcome.UNCHANGED)
            return ("unchanged", {"effect": effect}) if effect else ("unchanged alone", {})
        case other:
            return str(other), {}


def _regressed(answer: GateAnswer, pen: Pen) -> tuple[str, dict[str, str]]:
    worse = [
        (cell, verdict)
        for cell, verdict in counted(answer)
        if verdict.outcome is Outcome.REGRESSED and verdict.worsening is not None
    ]
    if not worse:
        return "regressed alone", {}
    cell, verdict = max(worse, key=lambda each: each[1].worsening or 0.0)
    return "regressed", {
        "metric": pen.code(verdict.metric),
        "cell": pen.code(cell.title),
        "worsening": share(verdict.worsening or 0.0),
        "low": percent(verdict.low or 0.0),
        "high": percent(verdict.high or 0.0),
        "tolerance": share(verdict.tolerance),
    }


def _broken(answer: GateAnswer, pen: Pen) -> tuple[str, dict[str, str]]:
    broken = next((cell.broken for cell in _cells(answer) if cell.broken is not None), None)
    if broken is None:
        return "unbroken", {}
    key = "broken" if broken.side == "candidate" else "broken baseline"
    return key, {"layer": pen.code(broken.layer)}


def _could_have_seen(answer: GateAnswer, outcome: Outcome) -> str | None:
    """Return the least worsening that none of the counted verdicts of an outcome would miss."""
    effects = [
        verdict.smallest_detectable
        for _, verdict in counted(answer)
        if verdict.outcome is outcome and verdict.smallest_detectable is not None
    ]
    return share(max(effects)) if effects else None


def _cells(answer: GateAnswer) -> list[GateCell]:
    """Return the cells that brought the gate to its outcome."""
    return [cell for cell in answer.cells if cell.counted is answer.outcome]


def _gating(answer: GateAnswer) -> list[GateCell]:
    return [cell for cell in answer.cells if cell.standing is Standing.GATES]
