"""A dossier as one page of Markdown, to be signed and kept."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from service.cli.answers.marks import words as marked
from service.cli.dossier_words import WORDS, Language
from service.cli.lines import level, percent, share
from service.domain.key import short
from service.domain.qualification import CHECKLIST, Decision, Way
from service.domain.stack import SwapScope
from service.domain.verdict import Outcome, foremost
from service.formats.matrix_view import MetricVerdict
from service.formats.qualifications import (
    DoneRead,
    DossierCell,
    DossierRead,
    QualificationContent,
    QualificationRead,
)

Words = Mapping[str, str]


def dossier_page(found: DossierRead, language: Language) -> str:
    """Return a dossier in a language."""
    words, about = WORDS[language], found.qualification
    named = f"{about.baseline.name} ({short(about.baseline.key)})"
    named += f" → {about.candidate.name} ({short(about.candidate.key)})"
    parts = [
        f"# {words['title']}",
        f"**{words['answer']}{words[f'answer {found.answer}']}**",
        f"## {words['upgrade']}",
        marked(named),
        _changes(about, words),
        marked(
            words[f"hosts {about.content.way}"].format(
                canary=about.content.canary,
                control=about.content.control,
                plan=about.content.plan,
            )
        ),
        f"## {words['sizes']}",
        words[f"rule {about.content.way}"],
        _sizes(found.cells, words),
        _bullets(_notes(found.cells, words)),
        f"## {words['not tested']}",
        _bullets([*(found.not_tested or [words["not tested none"]]), words["not tested rest"]]),
        f"## {words['rollback']}",
        *_rollback(found, words),
        f"## {words['done']}",
        _bullets(_acts(about, words)),
        words["sign"],
        words["made"].format(at=_moment(found.at), id=about.id),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def checklist_lines(found: QualificationRead, language: Language) -> Sequence[str]:
    """Return a person's step as points to tick."""
    words = WORDS[language]
    return [f"[ ] {point}: {words[f'point {point}']}" for point in found.checklist]


def _changes(about: QualificationRead, words: Words) -> str:
    header = tuple(words[name] for name in ("component", "from", "to", "restart"))
    rows = [
        (each.name, each.baseline, each.candidate, words[f"scope {each.scope}"])
        for each in about.changes
        if not each.recorded
    ]
    return _table(header, rows)


def _sizes(cells: Sequence[DossierCell], words: Words) -> str:
    names = (
        "cell", "metric", "word", "before", "after", "worse", "interval", "tolerance", "seen from",
    )  # fmt: skip
    rows = [_row(cell, verdict, words) for cell in cells for verdict in cell.verdicts]
    return _table(tuple(words[name] for name in names), rows)


def _row(cell: DossierCell, verdict: MetricVerdict, words: Words) -> tuple[str, ...]:
    interval = "-"
    if verdict.low is not None and verdict.high is not None:
        interval = f"{percent(verdict.low)} … {percent(verdict.high)}"
    seen = verdict.smallest_detectable
    return (
        cell.title,
        verdict.metric,
        words[f"outcome {verdict.outcome}"],
        level(verdict.metric, verdict.baseline),
        level(verdict.metric, verdict.candidate),
        "-" if verdict.worsening is None else percent(verdict.worsening),
        interval,
        share(verdict.tolerance),
        "-" if seen is None else share(seen),
    )


def _notes(cells: Sequence[DossierCell], words: Words) -> Sequence[str]:
    findings = [
        words["finding"].format(cell=cell.title, finding=cell.finding)
        for cell in cells
        if cell.finding
    ]
    moved = [
        words["control moved"].format(
            cell=cell.title,
            moved=percent(cell.control),
            launches=", ".join(map(str, cell.launches)),
        )
        for cell in cells
        if cell.control is not None
    ]
    turns = [
        words["launches"].format(cell=cell.title, launches=", ".join(map(str, cell.launches)))
        for cell in cells
        if cell.control is None
    ]
    return [*findings, *moved, *turns]


def _rollback(found: DossierRead, words: Words) -> Sequence[str]:
    about = found.qualification
    if about.content.way is Way.INTERLEAVED:
        return [words["rollback untouched"]]
    if found.restored is not None:
        seen = words[f"rollback {_back(found.restored)}"]
        return [words["rollback done"], _sizes(found.restored, words), seen]
    state = {None: "open", Decision.KEEP: "kept", Decision.ROLL_BACK: "asked"}
    points = CHECKLIST[about.scope or SwapScope.PROCESS]
    ordered = [f"{place}. {words[f'point {each}']}" for place, each in enumerate(points, start=1)]
    return [words[f"rollback {state[about.content.decision]}"], "\n".join(ordered)]


def _back(restored: Sequence[DossierCell]) -> str:
    """Return whether the old stack is what it was, after a rollback: back, away or unknown."""
    match foremost(cell.outcome for cell in restored):
        case Outcome.UNCHANGED:
            return "back"
        case Outcome.BROKEN | Outcome.REGRESSED | Outcome.IMPROVED:
            return "away"
        case _:
            return "unknown"


def _acts(about: QualificationRead, words: Words) -> Sequence[str]:
    content = about.content
    opened = DoneRead(by=about.created_by, at=about.created_at, note="")
    acts = (
        ("opened", opened),
        ("changed", content.changed),
        (_decided(content), content.decided),
        ("rolled_back", content.rolled_back),
    )
    return [
        words[name].format(at=_moment(act.at), by=act.by, note=act.note)
        for name, act in acts
        if act is not None
    ]


def _decided(content: QualificationContent) -> str:
    if content.way is Way.INTERLEAVED and content.decision is Decision.ROLL_BACK:
        return "decided not to"
    return f"decided {content.decision}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {marked(line)}" for line in lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    escaped = (line([marked(cell) for cell in row]) for row in rows)
    return "\n".join([line(header), line(["---"] * len(header)), *escaped])
