"""`kunline qualify`: an upgrade as a procedure, resumed wherever it stands."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.dossier import checklist_lines, dossier_page
from service.cli.dossier_words import Language
from service.cli.exit_codes import ADVICE_EXIT_CODE, USAGE
from service.cli.matrix import MatrixOption
from service.cli.person import user_name
from service.cli.plain import complain, plain
from service.cli.plan import planned_or_exit
from service.cli.run import followed, ordered, submitted
from service.client import Client
from service.domain.qualification import Decision, Phase, Step, Way
from service.formats.planned_sessions import PlannedSession, SessionUpload
from service.formats.qualifications import (
    ActDone,
    DecisionMade,
    DossierRead,
    PhaseSessions,
    QualificationOrder,
    QualificationRead,
)

MEASURED = {
    Step.MEASURE: Phase.TOGETHER,
    Step.MEASURE_BEFORE: Phase.BEFORE,
    Step.MEASURE_AFTER: Phase.AFTER,
    Step.MEASURE_RESTORED: Phase.RESTORED,
}
ANSWERED = frozenset({Step.DECIDE, Step.ROLL_BACK, Step.MEASURE_RESTORED, Step.DONE})

CanaryOption = Annotated[
    str | None, typer.Option(help="The host that is changed, or that measures both in turn.")
]
ControlOption = Annotated[
    str | None, typer.Option(help="A host that is not changed; only a crossover needs it.")
]
WayOption = Annotated[
    Way | None, typer.Option(help="How it is measured; else a crossover where a reboot is needed.")
]

ChangedOption = Annotated[
    bool, typer.Option("--changed", help="The canary is changed; each point is done.")
]
BackOption = Annotated[
    bool, typer.Option("--rolled-back", help="The canary is back; each point is done.")
]


def qualify(
    matrix: MatrixOption,
    plan: Annotated[str | None, typer.Option(help="The plan to measure, of the matrix.")] = None,
    from_stack: Annotated[str | None, typer.Option("--from", help="The stack in use.")] = None,
    to_stack: Annotated[str | None, typer.Option("--to", help="The stack to move to.")] = None,
    canary: CanaryOption = None,
    control: ControlOption = None,
    way: WayOption = None,
    resume: Annotated[UUID | None, typer.Option(help="Go on with this one.")] = None,
    changed: ChangedOption = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the change.")] = False,
    roll_back: Annotated[bool, typer.Option("--roll-back", help="Decide to go back.")] = False,
    rolled_back: BackOption = False,
    note: Annotated[str, typer.Option(help="Kept with what a person does.")] = "",
    language: Annotated[Language, typer.Option("--lang", help="Of the dossier.")] = Language.EN,
    out: Annotated[Path | None, typer.Option("--dossier", help="Write the dossier here.")] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Qualify an upgrade: measure both stacks, read the dossier, decide, sign.

    Where nothing that changes needs a reboot, both take turns on one host. Else it is a crossover:
    canary and control are measured, the canary is changed by a person, both are measured again.
    Each call goes as far as it can: it measures what is next, and ends where a person has to act.
    Exit codes: 0 yes or a person is next, 3 yes with costs, 4 unknown, 5 no.

    For example:

      kunline qualify --from cpu-sglang-0.5.18 --to cpu-sglang-0.5.23 --plan pr --canary h1

      kunline qualify --resume 01234567-89ab-cdef-0123-456789abcdef --changed --note "driver in"
    """
    with service(url, token) as client:
        found = (
            _resumed(client, resume)
            if resume is not None
            else _opened(client, matrix, (plan, from_stack, to_stack, canary), control, way)
        )
        found = _acted(
            client, found, note, changed=changed, keep=keep, back=roll_back, gone=rolled_back
        )
        while (phase := MEASURED.get(found.step)) is not None:
            found = _measured(client, matrix, found, phase)
        dossier = _dossier(client, found) if found.step in ANSWERED else None
    _say(found, dossier, language, out, as_json=as_json)
    raise typer.Exit(ADVICE_EXIT_CODE[dossier.answer] if dossier else 0)


def _resumed(client: Client, qualification_id: UUID) -> QualificationRead:
    return client.ask(QualificationRead, f"qualifications/{qualification_id}")


def _opened(
    client: Client,
    matrix: Path,
    words: tuple[str | None, ...],
    control: str | None,
    way: Way | None,
) -> QualificationRead:
    if None in words:
        complain("name --plan, --from, --to and --canary, or --resume one")
        raise typer.Exit(USAGE)
    plan, before, after, canary = (str(word) for word in words)
    both = [_planned(matrix, plan, [each]).stacks[0] for each in (before, after)]
    order = QualificationOrder(
        from_stack=both[0].order(),
        to_stack=both[1].order(),
        plan=plan,
        canary=canary,
        control=control,
        way=way,
        who=user_name(),
    )
    return client.ask(QualificationRead, "qualifications", body=order)


def _acted(
    client: Client,
    found: QualificationRead,
    note: str,
    *,
    changed: bool,
    keep: bool,
    back: bool,
    gone: bool,
) -> QualificationRead:
    """Say what a person did or decided."""
    place = f"qualifications/{found.id}"
    if changed or gone:
        step = Step.CHANGE if changed else Step.ROLL_BACK
        act = ActDone(step=step, ticked=found.checklist, note=note, who=user_name())
        return client.ask(QualificationRead, f"{place}/acts", body=act)
    if keep or back:
        decision = Decision.KEEP if keep else Decision.ROLL_BACK
        made = DecisionMade(decision=decision, note=note, who=user_name())
        return client.ask(QualificationRead, f"{place}/decision", body=made)
    return found


def _measured(
    client: Client, matrix: Path, found: QualificationRead, phase: Phase
) -> QualificationRead:
    """Measure what a phase asks for, and return where the qualification then stands.

    Sessions that somebody left while they ran are followed to their end, and not begun again.
    """
    going = list(found.content.sessions.get(phase, {}).values())
    if not going or any(client.session(each).state == "cancelled" for each in going):
        going = _begun(client, matrix, found, phase)
    for session_id in going:
        followed(client, session_id)
    return _resumed(client, found.id)


def _begun(client: Client, matrix: Path, found: QualificationRead, phase: Phase) -> list[UUID]:
    """Order the sessions of a phase, and return them, that of the canary first."""
    content = found.content
    going = [
        submitted(
            client,
            _bound(ordered(_planned(matrix, content.plan, stacks)), host),
            idempotency_key=f"{found.id}-{phase}-{host}-{secrets.token_hex(4)}",
        ).id
        for host, stacks in _wanted(found, phase).items()
    ]
    control = going[1] if content.control is not None else None
    told = PhaseSessions(phase=phase, canary=going[0], control=control)
    client.ask(QualificationRead, f"qualifications/{found.id}/sessions", body=told)
    return going


def _wanted(found: QualificationRead, phase: Phase) -> Mapping[str, Sequence[str]]:
    """Return the stacks that each host measures in a phase, the canary first.

    A control keeps the old stack throughout; only the canary has another one after the change.
    """
    old, new = found.baseline.name, found.candidate.name
    if phase is Phase.TOGETHER:
        return {found.content.canary: [old, new]}
    canary = {found.content.canary: [new if phase is Phase.AFTER else old]}
    return canary if found.content.control is None else {**canary, found.content.control: [old]}


def _planned(matrix: Path, plan: str, stacks: Sequence[str]) -> PlannedSession:
    return planned_or_exit(plan, matrix=matrix, stacks=stacks)


def _bound(upload: SessionUpload, host: str) -> SessionUpload:
    order = upload.order.model_copy(update={"host": host, "baseline_stack_key": None})
    return SessionUpload(order, upload.artefacts)


def _dossier(client: Client, found: QualificationRead) -> DossierRead:
    return client.ask(DossierRead, f"qualifications/{found.id}/dossier")


def _say(
    found: QualificationRead,
    dossier: DossierRead | None,
    language: Language,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    if dossier is not None and out is not None:
        out.write_text(dossier_page(dossier, language), encoding="utf-8")
    if as_json:
        typer.echo((dossier or found).model_dump_json())
        return
    if dossier is not None and out is None:
        typer.echo(dossier_page(dossier, language))
    typer.echo(f"qualification {found.id}: next is to {found.step}")
    for line in checklist_lines(found, language):
        typer.echo(plain(line))
