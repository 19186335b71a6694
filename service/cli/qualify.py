"""`kunline qualify`: an upgrade as a procedure, resumed wherever it stands."""

import secrets
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, complain, service
from service.cli.dossier import checklist_lines, dossier_page
from service.cli.dossier_words import Language
from service.cli.exit_codes import ADVICE_EXIT_CODE, USAGE
from service.cli.matrix import MatrixOption
from service.cli.person import user_name
from service.cli.plain import plain
from service.cli.plan import planned_or_exit
from service.cli.run import followed, ordered, submitted
from service.client import Client
from service.domain.qualification import Decision, Phase, Step
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
    Step.MEASURE_BEFORE: Phase.BEFORE,
    Step.MEASURE_AFTER: Phase.AFTER,
    Step.MEASURE_RESTORED: Phase.RESTORED,
}
ANSWERED = frozenset({Step.DECIDE, Step.ROLL_BACK, Step.MEASURE_RESTORED, Step.DONE})


def qualify(
    matrix: MatrixOption,
    plan: Annotated[str | None, typer.Option(help="The plan to measure, of the matrix.")] = None,
    from_stack: Annotated[str | None, typer.Option("--from", help="The stack in use.")] = None,
    to_stack: Annotated[str | None, typer.Option("--to", help="The stack to move to.")] = None,
    canary: Annotated[str | None, typer.Option(help="The host that is changed.")] = None,
    control: Annotated[str | None, typer.Option(help="A host that is not changed.")] = None,
    resume: Annotated[UUID | None, typer.Option(help="Go on with this one.")] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="The canary is changed; each point is done.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the change.")] = False,
    roll_back: Annotated[bool, typer.Option("--roll-back", help="Decide to go back.")] = False,
    rolled_back: Annotated[
        bool, typer.Option("--rolled-back", help="The canary is back; each point is done.")
    ] = False,
    note: Annotated[str, typer.Option(help="Kept with what a person does.")] = "",
    language: Annotated[Language, typer.Option("--lang", help="Of the dossier.")] = Language.EN,
    out: Annotated[Path | None, typer.Option("--dossier", help="Write the dossier here.")] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Qualify an upgrade on a canary beside a control: measure, change, measure, sign.

    Each call goes as far as it can: it measures what is next, and ends where a person has to act.
    Exit codes: 0 yes or a person is next, 3 yes with costs, 4 unknown, 5 no.

    For example:

      kunline qualify --from cpu-sglang-0.5.18 --to cpu-sglang-0.5.23 --plan smoke --canary h1
      --control h2

      kunline qualify --resume 01234567-89ab-cdef-0123-456789abcdef --changed --note "driver in"
    """
    with service(url, token) as client:
        found = (
            _resumed(client, resume)
            if resume is not None
            else _opened(client, matrix, (plan, from_stack, to_stack, canary, control))
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


def _opened(client: Client, matrix: Path, words: tuple[str | None, ...]) -> QualificationRead:
    if None in words:
        complain("name --plan, --from, --to, --canary and --control, or --resume one")
        raise typer.Exit(USAGE)
    plan, before, after, canary, control = (str(word) for word in words)
    both = [_planned(matrix, plan, each).stacks[0] for each in (before, after)]
    order = QualificationOrder(
        from_stack=both[0].order(),
        to_stack=both[1].order(),
        plan=plan,
        canary=canary,
        control=control,
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
    """Measure both hosts, and return where the qualification then stands.

    The control keeps the old stack throughout; only the canary has another one after the change.
    """
    content = found.content
    canary = found.candidate.name if phase is Phase.AFTER else found.baseline.name
    wanted = {content.canary: canary, content.control: found.baseline.name}
    going = [
        submitted(
            client,
            _bound(ordered(_planned(matrix, content.plan, stack)), host),
            idempotency_key=f"{found.id}-{phase}-{host}-{secrets.token_hex(4)}",
        ).id
        for host, stack in wanted.items()
    ]
    told = PhaseSessions(phase=phase, canary=going[0], control=going[1])
    client.ask(QualificationRead, f"qualifications/{found.id}/sessions", body=told)
    for session_id in going:
        followed(client, session_id)
    return _resumed(client, found.id)


def _planned(matrix: Path, plan: str, stack: str) -> PlannedSession:
    return planned_or_exit(plan, matrix=matrix, stacks=[stack])


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
