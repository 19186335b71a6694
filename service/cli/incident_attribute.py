"""`kunline incident attribute`: which component between an incident's two stacks is its cause."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from service.cli.answers.words import Language
from service.cli.attribute import Budget, DryRun, HostSteps, exit_code, meter_of, named_stack
from service.cli.attribution import Question, attributed, question_of
from service.cli.attribution_calls import Told
from service.cli.attribution_page import page
from service.cli.between import Bench
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused, service
from service.cli.exit_codes import USAGE
from service.cli.language import Lang
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.plan import read_matrix_and_plan
from service.client import Client, RefusedError
from service.domain.attribution import NothingDiffersError
from service.domain.confirm import CELLS_MAX
from service.domain.incident import Direction
from service.domain.key import short
from service.domain.plan import Cell, shared_launches
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.incidents import IncidentCellRead, IncidentDetail, IncidentRead
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.mixed_stacks import Between
from service.formats.plan_files import PlanFile
from service.formats.planned_cells import planned_cells
from service.formats.planned_sessions import StackChoiceError, session_of
from service.formats.yaml_file import FileProblemsError, YamlFile

PlanOption = Annotated[
    str | None,
    typer.Option(
        "--plan", help="A plan of the matrix by name, or a path; else that of the incident's runs."
    ),
]
StackOfIncident = Annotated[
    str | None,
    typer.Option(metavar="STACK", help="Where the matrix has it no more: a path to its file."),
]


class NotAttributableError(ValueError):
    """An incident cannot be searched as it stands; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks of an incident."""

    plan: str | None
    good: str | None
    bad: str | None
    host_steps: bool


def attribute_incident(
    incident_id: UUID,
    matrix: MatrixOption,
    plan: PlanOption = None,
    good: StackOfIncident = None,
    bad: StackOfIncident = None,
    host_steps: HostSteps = False,
    budget: Budget = None,
    dry_run: DryRun = False,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Find which component between the two stacks of an incident is its cause, and keep the answer.

    What the servers settled differently is told first, at no cost. Then combos of the two stacks
    are measured in the cells that moved most, each in turn with the good stack. What was measured
    before is not measured again, so a search that was cut short goes on where it was.

    Exit codes: 0 where a culprit or an interaction is named, or nothing regressed; 4 where it could
    not be told or the budget is spent; else that of the verdict on the bad stack.

    For example:

      kunline incident attribute 6f1c… --dry-run

      kunline incident attribute 6f1c… --budget 4
    """
    with service(url, token, lang) as client:
        incident = client.ask(IncidentDetail, f"incidents/{incident_id}").incident
        asked = Asked(plan, good, bad, host_steps)
        file, read, question = _question_or_exit(client, incident, asked, matrix, lang)
        known = tuple(dict.fromkeys(each.session_id for each in incident.cells if each.session_id))
        meter = meter_of(budget, dry_run=dry_run)
        bench = Bench(client, read, file, known, meter, lang)
        if dry_run:
            answer = attributed(bench, question)
        else:
            keys = question.between.good.stack.key, question.between.bad.stack.key
            told = Told(client, *keys, meter, incident_id=incident.id)
            answer = attributed(bench, question, told)
            told.end(answer)
    typer.echo(answer.model_dump_json(indent=2) if as_json else page(answer, lang))
    raise typer.Exit(exit_code(answer))


def cells_to_measure(
    planned: Sequence[Cell], listed: Sequence[IncidentCellRead]
) -> tuple[Cell, ...]:
    """Return the cells in which an incident is searched: few, and all for one server.

    Those that a confirm session measured go first, then those that moved most. Returns nothing
    where a plan has none of them.
    """
    strength: dict[tuple[str, str], tuple[bool, float]] = {}
    for each in listed:
        cell = each.condition_key, each.protocol_key
        rank = each.session_id is not None, abs(each.change)
        strength[cell] = max(rank, strength.get(cell, rank))
    found = [each for each in planned if _key(each) in strength]
    if not found:
        return ()
    first = max(found, key=lambda cell: strength[_key(cell)])
    (group,) = [group for group in shared_launches(found) if first in group]
    alike = [each for each in group if strength[_key(each)][0] is strength[_key(first)][0]]
    ranked = sorted(alike, key=lambda cell: strength[_key(cell)], reverse=True)
    return tuple(ranked[:CELLS_MAX])


def sides(incident: IncidentRead) -> tuple[str, str]:
    """Return the keys of the faster and the slower stack: of a change for the better, turned."""
    keys = incident.baseline_stack_key, incident.candidate_stack_key
    return keys if incident.direction is Direction.WORSE else (keys[1], keys[0])


def _question_or_exit(
    client: Client, incident: IncidentRead, asked: Asked, matrix: Path, lang: Language
) -> tuple[YamlFile[PlanFile], Matrix, Question]:
    """Return what is searched; what stands in the way is told on stderr and exits 2."""
    try:
        _require_no_host(incident)
        read, file = read_matrix_and_plan(asked.plan or _plan_of(client, incident), matrix)
        return file, read, _question(read, file, incident, asked)
    except (
        FileProblemsError, NotAttributableError, NothingDiffersError, StackChoiceError,
        UnknownFileError,
    ) as error:  # fmt: skip
        complain(refused(str(error.args[0]), lang))
        raise typer.Exit(USAGE) from error


def _require_no_host(incident: IncidentRead) -> None:
    if incident.host is not None:
        raise NotAttributableError(
            f"all that host {incident.host} measures moved at once, so no stack is the cause: "
            "look at the host"
        )


def _question(
    read: Matrix, file: YamlFile[PlanFile], incident: IncidentRead, asked: Asked
) -> Question:
    """Return what is searched.

    Raises NotAttributableError, NothingDiffersError, StackChoiceError and FileProblemsError.
    """
    cells = cells_to_measure(planned_cells(read, file), incident.cells)
    if not cells:
        raise NotAttributableError(
            f"plan {file.shape.name} has none of the incident's cells: name another with --plan"
        )
    others = {each.stack.key: each for each in (chosen(read, name) for name in read.stacks.files)}
    named = [None if name is None else named_stack(read, name) for name in (asked.good, asked.bad)]
    good, bad = (
        _stack(key, name, others, option)
        for key, name, option in zip(sides(incident), named, ("--good", "--bad"), strict=True)
    )
    return question_of(
        Between(good, bad, [*others.values()]),
        session_of(read, file, arms=(good, bad), cells=cells),
        host_steps=asked.host_steps,
        listed={(each.condition_key, each.metric) for each in incident.cells},
    )


def _stack(
    key: str, named: ChosenStack | None, others: Mapping[str, ChosenStack], option: str
) -> ChosenStack:
    """Return the stack of a key. Raises NotAttributableError where nobody has its file."""
    if named is not None and named.stack.key != key:
        raise NotAttributableError(
            f"{named.file.shown} is stack {short(named.stack.key)}, and the incident is of "
            f"{short(key)}: {option} takes the file as it was then"
        )
    found = named or others.get(key)
    if found is None:
        raise NotAttributableError(
            f"no stack file of the matrix is stack {short(key)}, which it was measured with: "
            f"name the file as it was then with {option}"
        )
    return found


def _plan_of(client: Client, incident: IncidentRead) -> str:
    """Return the plan that an incident's runs were measured by: a confirm's session has none.

    Raises NotAttributableError.
    """
    detail = client.ask(IncidentDetail, f"incidents/{incident.id}")
    confirms = {confirm.session_id for confirm in detail.confirms}
    for run_id in _runs_of(client, incident):
        session_id = client.run(run_id).run.session_id
        if session_id is not None and session_id not in confirms:
            return client.session(session_id).plan
    raise NotAttributableError(
        "the incident's runs were measured elsewhere, so no plan is known: name one with --plan"
    )


def _runs_of(client: Client, incident: IncidentRead) -> Iterator[UUID]:
    """Yield the newest run of each cell, then those of the event; it may be told no more."""
    yield from (each for cell in incident.cells for each in cell.run_ids[-1:])
    if incident.event_id is not None:
        with suppress(RefusedError):
            yield from client.event(incident.event_id).run_ids


def _key(cell: Cell) -> tuple[str, str]:
    return cell.condition.key, cell.protocol.key
