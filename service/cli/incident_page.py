"""An incident as a person reads it: in a terminal, or as one page of Markdown to hand around."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import typer

from service.cli.answers import marks
from service.cli.answers.words import Language
from service.cli.attribution_page import stored_page
from service.cli.confirm_page import confirm_page
from service.cli.incident_words import CATALOGUES
from service.cli.lines import percent
from service.cli.plain import plain
from service.cli.tables import print_table
from service.cli.verdict_words import spoken
from service.domain.incident import Triage
from service.formats.audits import AuditRead
from service.formats.incidents import IncidentCellRead, IncidentDetail, IncidentRead, RecordRead

SECONDS_PER_HOUR = 3600

Words = Mapping[str, str]


def incident_page(detail: IncidentDetail, language: Language, *, base: str) -> str:
    """Return an incident as Markdown; each of its numbers links to the runs that it came from.

    base: the address of the service.
    """
    words, incident = CATALOGUES[language], detail.incident
    parts = [
        f"# {marks.words(_title(incident, words))}",
        f"**{marks.words(_state(incident, words))}**",
        "\n".join(
            f"- {words['fact'].format(name=name, value=_marked(value))}"
            for name, value in _facts(incident, language)
            if name != words["comment"]
        ),
        *([marks.fenced(incident.comment.splitlines(), "text")] if incident.comment else []),
        f"## {words['section cells']}",
        words["rule"],
        _table(
            _header(words, CELL_COLUMNS),
            [
                (*map(marks.words, _cell(each, words)), _run_links(each, words, base))
                for each in incident.cells
            ],
        ),
        *_blocks(words["section confirms"], _confirms(detail, language)),
        *_blocks(words["section attributions"], _attributions(detail, language)),
        f"## {words['section history']}",
        _table(
            _header(words, HISTORY_COLUMNS),
            [tuple(map(marks.words, _act(each, language))) for each in detail.history],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def print_incident(detail: IncidentDetail, language: Language) -> None:
    """Print an incident for a terminal: the same, with the runs by their whole ids."""
    words, incident = CATALOGUES[language], detail.incident
    _echo([_title(incident, words), _state(incident, words), ""])
    _echo(
        words["fact"].format(name=name, value=", ".join(value))
        for name, value in _facts(incident, language)
    )
    print_table(
        _header(words, CELL_COLUMNS),
        [(*_cell(each, words), " ".join(map(str, each.run_ids))) for each in incident.cells],
    )
    for page in (*_confirms(detail, language), *_attributions(detail, language)):
        _echo(["", *page.splitlines()])
    print_table(_header(words, HISTORY_COLUMNS), [_act(each, language) for each in detail.history])


def print_incidents(found: Sequence[IncidentRead], language: Language) -> None:
    """Print one line an incident: what, since which stack, how it stands and with whom."""
    words = CATALOGUES[language]
    if not found:
        typer.echo(words["no incident"])
        return
    print_table(_header(words, COLUMNS), [_row(each, language) for each in found])


def record_page(record: RecordRead, language: Language) -> str:
    """Return how right Kunline was, as people's answers tell, and how fast."""
    words = CATALOGUES[language]
    lines = [
        words["record"].format(opened=record.opened, answered=record.answered, noise=record.noise),
        words["record rate"].format(rate=_rate(record.false_alarm_rate, words)),
        words["record verdict"].format(span=_span(record.to_verdict_s, words)),
        words["record triage"].format(span=_span(record.to_triage_s, words)),
        words["record confirms"].format_map(record.confirms.model_dump()),
        words["record screen"].format(rate=_rate(record.screen_false_alarm_rate, words)),
    ]
    return "\n".join(lines)


COLUMNS = (
    "id", "what", "from", "to", "cells", "triage", "state", "owner", "due", "opened",
)  # fmt: skip
CELL_COLUMNS = ("cell", "metric", "change", "interval", "runs")
HISTORY_COLUMNS = ("when", "who", "did", "why")


def _row(incident: IncidentRead, language: Language) -> tuple[str, ...]:
    words = CATALOGUES[language]
    state = "open" if incident.is_open else "verified" if incident.verified_at else "over"
    return (
        str(incident.id),
        spoken(incident.title, language),
        incident.baseline_stack_name,
        incident.candidate_stack_name,
        str(len({each.condition_key for each in incident.cells})),
        words[f"triage {incident.triage}"],
        words[state],
        incident.owner or "",
        f"{incident.due:%Y-%m-%d}" if incident.due else "",
        _moment(incident.opened_at),
    )


def _title(incident: IncidentRead, words: Words) -> str:
    return words[f"title {incident.direction}"].format(candidate=incident.candidate_stack_name)


def _state(incident: IncidentRead, words: Words) -> str:
    """Return the one sentence that says how an incident stands."""
    if incident.merged_into is not None:
        return words["state merged"].format(id=incident.merged_into)
    if incident.verified_at is not None and incident.triage is Triage.FIX:
        return words["state verified"].format(stack=incident.verified_stack_name)
    cells = len({(each.condition_key, each.protocol_key) for each in incident.cells})
    return words[f"state {incident.triage}"].format(cells=cells)


def _facts(incident: IncidentRead, language: Language) -> list[tuple[str, Sequence[str]]]:
    """Return what is known of an incident, each with its name; what may have many values has."""
    words = CATALOGUES[language]
    opened = words["by"].format(at=_moment(incident.opened_at), who=incident.opened_by)
    stacks = f"{incident.baseline_stack_name} → {incident.candidate_stack_name}"
    always: list[tuple[str, Sequence[str]]] = [
        ("id", [str(incident.id)]),
        ("as opened", [spoken(incident.title, language)]),
        ("stacks", [stacks]),
        ("seen", [_moment(incident.seen_at)]),
        ("opened", [opened]),
        ("triage", [words[f"triage {incident.triage}"]]),
        ("owner", [incident.owner or words["nobody"]]),
        ("due", [f"{incident.due:%Y-%m-%d}" if incident.due else words["none"]]),
    ]
    verified = [_moment(incident.verified_at)] if incident.verified_at else []
    sometimes: list[tuple[str, Sequence[str]]] = [
        ("verified", verified),
        ("on host", [incident.host] if incident.host else []),
        ("comment", [incident.comment] if incident.comment else []),
        ("links", incident.links),
        ("event", [str(incident.event_id)] if incident.event_id else []),
        ("parts", [str(each) for each in incident.merged]),
    ]
    known = [*always, *(each for each in sometimes if each[1])]
    return [(words[name], value) for name, value in known]


def _cell(cell: IncidentCellRead, words: Words) -> tuple[str, ...]:
    interval = words["screen alone"]
    if cell.low is not None and cell.high is not None:
        interval = words["bounds"].format(low=percent(cell.low), high=percent(cell.high))
    return cell.title, cell.metric, percent(cell.change), interval


def _act(act: AuditRead, language: Language) -> tuple[str, ...]:
    done = CATALOGUES[language].get(f"act {act.act}", act.act)
    return _moment(act.at), act.actor, done, spoken(act.reason, language)


def _run_links(cell: IncidentCellRead, words: Words, base: str) -> str:
    return " ".join(
        marks.link(words["run"].format(number=number), f"{base.rstrip('/')}/runs/{run_id}")
        for number, run_id in enumerate(cell.run_ids, 1)
    )


def _confirms(detail: IncidentDetail, language: Language) -> list[str]:
    return [confirm_page(each, language) for each in detail.confirms]


def _attributions(detail: IncidentDetail, language: Language) -> list[str]:
    return [stored_page(each, language) for each in detail.attributions]


def _blocks(title: str, pages: Sequence[str]) -> list[str]:
    return (
        [f"## {title}", *(marks.fenced(page.splitlines(), "text") for page in pages)]
        if pages
        else []
    )


def _marked(values: Sequence[str]) -> str:
    """Return values as Markdown; an address becomes a link."""
    return ", ".join(
        marks.link(marks.words(each), each) if each.startswith("http") else marks.words(each)
        for each in values
    )


def _echo(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(plain(line))


def _header(words: Words, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(words[name] for name in names)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _rate(rate: float | None, words: Words) -> str:
    return words["unknown"] if rate is None else f"{rate:.0%}".replace("%", " %")


def _span(seconds: float | None, words: Words) -> str:
    if seconds is None:
        return words["unknown"]
    return words["hours"].format(hours=f"{seconds / SECONDS_PER_HOUR:.1f}")
