"""The tables of an answer: what moved, what was not judged or could not be told, and how."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from service.cli.answers.pen import Pen
from service.cli.answers.words import Language, say
from service.cli.lines import percent, scaled, share
from service.domain.ci_gate import Counts, Standing
from service.domain.metric import Unit
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateCell, GateVerdict
from service.formats.readings import ValueRead
from service.formats.reasons import gate_in_chinese
from service.formats.verdicts import DifferenceRead, VerdictRead

MOVED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED})
UNCLEAR = frozenset({Outcome.INCONCLUSIVE, Outcome.INSUFFICIENT_BASELINE})
UNJUDGED = frozenset({Outcome.BROKEN, Outcome.INVALID, Outcome.MISSING, Outcome.NOT_COMPARABLE})

# As many reasons as one cell of a table gives.
REASONS_MAX = 8
# What a table has where there is nothing to say.
NOTHING = "-"

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header. folded: shown only to whoever opens it."""

    title: str
    header: Row
    rows: tuple[Row, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """The tables of one answer in one language, written with one pen."""

    answer: GateAnswer
    language: Language
    pen: Pen

    def tables(self) -> tuple[Table, ...]:
        """Return every table that has a row, in the order of what matters first."""
        tables = (
            self._of_verdicts("moved", _is_moved, "worse by,interval,tolerance,verdict"),
            self._unjudged(),
            self._of_verdicts("unclear", _is_unclear, "worse by,interval,would see,why"),
            self._of_verdicts("uncounted", _is_uncounted, "worse by,interval,verdict,uncounted"),
            self._components(),
            self._settled(),
            self._of_verdicts("unmoved", _is_unmoved, "interval,would see,verdict", folded=True),
            self._measured(),
        )
        return tuple(table for table in tables if table.rows)

    def _of_verdicts(
        self,
        name: str,
        wanted: Callable[[GateVerdict], bool],
        columns: str,
        *,
        folded: bool = False,
    ) -> Table:
        """Return the table of the verdicts that are wanted, the worst of them first."""
        names = ["cell", "metric", "baseline", "candidate", *columns.split(",")]
        found = [
            (cell, judged)
            for cell in self.answer.cells
            for judged in cell.verdicts
            if wanted(judged)
        ]
        found.sort(key=lambda pair: -(pair[1].verdict.worsening or 0.0))
        rows = (tuple(self._column(name, *pair) for name in names) for pair in found)
        return self._table(name, names, rows, folded=folded)

    def _column(self, name: str, cell: GateCell, judged: GateVerdict) -> str:
        verdict = judged.verdict
        match name:
            case "cell":
                return self.pen.code(cell.title)
            case "metric":
                return self.pen.code(verdict.metric)
            case "baseline":
                return level(verdict.baseline, judged.unit)
            case "candidate":
                return level(verdict.candidate, judged.unit)
            case "why":
                return self.told(verdict.reason)
            case "uncounted":
                return self._uncounted(cell, judged)
            case _:
                return self._estimated(name, verdict)

    def _estimated(self, name: str, verdict: VerdictRead) -> str:
        """Return what an interval tells, or '-' where there is none."""
        if name == "verdict":
            return self._say(f"outcome.{verdict.outcome}")
        if name == "tolerance":
            return share(verdict.tolerance)
        if name == "would see":
            seen = verdict.smallest_detectable
            return self._say("unknown") if seen is None else self._say("from", effect=share(seen))
        if verdict.worsening is None or verdict.low is None or verdict.high is None:
            return NOTHING
        if name == "worse by":
            return percent(verdict.worsening)
        return self._say("interval", low=percent(verdict.low), high=percent(verdict.high))

    def _uncounted(self, cell: GateCell, judged: GateVerdict) -> str:
        """Return why a verdict is not counted. Raises nothing where the reason is not there."""
        if judged.counts is Counts.KNOWN and cell.incident is not None:
            title = self.pen.words(cell.incident.title)
            url = cell.incident.url
            shown = title if url is None else self.pen.link(title, url)
            return self._say("known", title=shown)
        if judged.counts is Counts.WAIVED and judged.waiver is not None:
            waiver = judged.waiver
            return self._say(
                "waived",
                who=self.pen.words(waiver.who),
                until=moment(waiver.until),
                reason=self.pen.words(waiver.reason),
            )
        return self._say("informs")

    def _unjudged(self) -> Table:
        names = ["cell", "verdict", "why", "remedy"]
        return self._table("unjudged", names, self._unjudged_rows())

    def _unjudged_rows(self) -> Iterator[Row]:
        for cell in self.answer.cells:
            judged = [each.verdict for each in cell.verdicts if each.verdict.outcome in UNJUDGED]
            if cell.outcome not in UNJUDGED and not judged:
                continue
            word = cell.outcome if cell.outcome in UNJUDGED else judged[0].outcome
            told = [self._say(f"outcome.{word}")]
            if cell.counted is None and cell.standing is Standing.INFORMS:
                told.append(self._say("informs"))
            remedy = self.pen.words(cell.broken.remedy) if cell.broken is not None else NOTHING
            yield self.pen.code(cell.title), ", ".join(told), self.whys(cell), remedy

    def whys(self, cell: GateCell) -> str:
        """Return why a cell was not judged, by the first that is known of it.

        Where it broke, what differs, its own reasons, or those of its metrics.
        """
        whys = (
            self.broke(cell)
            or [self._differs(each) for each in cell.differences]
            or [self.told(each) for each in cell.reasons]
            or [
                f"{self.pen.code(verdict.metric)}: {self.told(verdict.reason)}"
                for verdict in (each.verdict for each in cell.verdicts)
                if verdict.outcome in UNJUDGED
            ]
        )
        if (left := len(whys) - REASONS_MAX) > 0:
            whys[REASONS_MAX:] = [self._say("more", count=left)]
        return "; ".join(whys) or NOTHING

    def told(self, text: str) -> str:
        """Return a sentence of the service, in the answer's language."""
        return self.pen.words(said(self.language, text))

    def broke(self, cell: GateCell) -> list[str]:
        """Return where a launch of a cell broke, if one did."""
        if cell.broken is None:
            return []
        return [
            self._say(
                f"broke.{cell.broken.side}",
                layer=self.pen.code(cell.broken.layer),
                finding=self.pen.words(cell.broken.finding),
            )
        ]

    def _differs(self, difference: DifferenceRead) -> str:
        code = self.pen.code
        return self._say(
            "differs",
            field=code(difference.field),
            baseline=code(difference.baseline),
            candidate=code(difference.candidate),
        )

    def _components(self) -> Table:
        names = ["component", "layer", "scope", "baseline", "candidate"]
        code = self.pen.code
        rows: list[Row] = [
            (
                code(each.name),
                code(each.layer),
                self._say("recorded") if each.recorded else self._say(f"scope.{each.scope}"),
                code(each.baseline),
                code(each.candidate),
            )
            for each in self.answer.components
        ]
        rows += [
            (
                self._say("arguments", field=code(each.field)),
                code("server"),
                self._say("scope.process"),
                code(each.baseline),
                code(each.candidate),
            )
            for each in self.answer.arguments
        ]
        return self._table("components", names, rows)

    def _settled(self) -> Table:
        names = ["cell", "field", "baseline", "candidate"]
        code = self.pen.code
        rows = (
            (code(cell.title), code(each.field), code(each.baseline), code(each.candidate))
            for cell in self.answer.cells
            for each in cell.resolution
        )
        return self._table("settled", names, rows)

    def _measured(self) -> Table:
        names = ["cell", "launches", "control", "stopped"]
        rows = (
            (
                self.pen.code(cell.title),
                self._say(
                    "launches",
                    candidate=cell.candidate_launches,
                    baseline=cell.baseline_launches,
                    planned=cell.planned_launches,
                ),
                self._control(cell),
                NOTHING if cell.stopped is None else self._say(f"stop.{cell.stopped.word}"),
            )
            for cell in self.answer.cells
        )
        return self._table("measured", names, rows, folded=True)

    def _control(self, cell: GateCell) -> str:
        control = cell.control
        oldest = self._say("unknown") if control.oldest is None else moment(control.oldest)
        return self._say(
            f"control.{control.kind}",
            launches=control.launches,
            sessions=control.sessions,
            oldest=oldest,
        )

    def _table(
        self, name: str, names: list[str], rows: Iterable[Row], *, folded: bool = False
    ) -> Table:
        header = tuple(self._say(f"column.{each}") for each in names)
        return Table(self._say(f"section.{name}"), header, tuple(rows), folded=folded)

    def _say(self, key: str, **filled: object) -> str:
        return say(self.language, key, **filled)


def said(language: Language, text: str) -> str:
    """Return a sentence of the service in a language; what others wrote in it stays as it is."""
    return gate_in_chinese(text) if language is Language.ZH else text


def level(value: float | None, unit: str) -> str:
    """Return the level of one side for the eye; '-' for none."""
    if value is None:
        return NOTHING
    try:
        return scaled(ValueRead(value=value, unit=Unit(unit)))
    except ValueError:
        return f"{value:g}"


def moment(at: datetime) -> str:
    """Return a time for the eye, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _is_moved(judged: GateVerdict) -> bool:
    return judged.verdict.outcome in MOVED and judged.counts is Counts.COUNTED


def _is_unclear(judged: GateVerdict) -> bool:
    return judged.verdict.outcome in UNCLEAR and judged.counts is Counts.COUNTED


def _is_uncounted(judged: GateVerdict) -> bool:
    shown = judged.verdict.outcome in MOVED | UNCLEAR
    return shown and judged.counts is not Counts.COUNTED


def _is_unmoved(judged: GateVerdict) -> bool:
    return judged.verdict.outcome is Outcome.UNCHANGED
