"""`kunline gate`: a candidate build beside its baseline, in CI; the exit code is the verdict."""

import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

import typer

from service.cli import gate_calls
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import DONE, INTERRUPTED, USAGE
from service.cli.gate_base import BaseAsked, NoBaseError, base_of
from service.cli.gate_calls import Patience
from service.cli.gate_candidate import Named, candidate_of
from service.cli.gate_options import (
    Attach,
    Base,
    Budget,
    DataDir,
    Detach,
    Key,
    Local,
    MergeBase,
    OneCell,
    Plan,
    Source,
    StackNamed,
    Target,
    Wait,
    With,
)
from service.cli.gate_power import power_note
from service.cli.gate_report import Delivery, report, with_delivery
from service.cli.lengths import seconds_of
from service.cli.matrix import MatrixOption
from service.cli.person import user_name
from service.cli.plain import complain
from service.cli.plan import read_matrix_and_plan
from service.cli.power_table import known_noise
from service.cli.tables import print_table
from service.cli.tree import data_home, embedded_service, wait_for_runner
from service.cli.up import failing_clearly
from service.client import Client, RefusedError, connected
from service.formats.chosen_stacks import OverrideError
from service.formats.ci_gates import GateListed, GateRead
from service.formats.gate_answers import GateAnswer, GateLink
from service.formats.gate_plans import Asked, GatePlanError, GateUpload, gate_upload
from service.formats.matrix_files import UnknownFileError
from service.formats.planned_sessions import NotRunnableError, StackChoiceError
from service.formats.yaml_file import FileProblemsError

# What a pipeline calls the branch that a pull request is to be merged into.
TARGET_VARIABLES = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")
WRONG = (
    FileProblemsError,
    GatePlanError,
    NoBaseError,
    NotRunnableError,
    OverrideError,
    StackChoiceError,
    UnknownFileError,
)

gates = typer.Typer()


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks a gate, as far as it does not depend on where it runs."""

    plan: str
    matrix: Path
    base: BaseAsked
    named: Named
    cell: str | None
    budget_s: float | None
    key: str


@dataclass(frozen=True, slots=True)
class Where:
    """Which service measures a gate, and how it is waited for.

    place: the folder of a service of its own, on this machine; None for the one at the URL.
    """

    url: str
    token: str | None
    wait_s: float
    place: Path | None
    attach: UUID | None
    detach: bool


@gates.callback(invoke_without_command=True)
@with_delivery
def gate(
    context: typer.Context,
    matrix: MatrixOption,
    plan: Plan = "pr",
    base: Base = None,
    instead: With = None,
    stack: StackNamed = None,
    merge_base: MergeBase = None,
    target: Target = None,
    source: Source = Path(),
    cell: OneCell = None,
    budget: Budget = None,
    local: Local = False,
    data_dir: DataDir = None,
    detach: Detach = False,
    attach: Attach = None,
    patience: Wait = "30m",
    key: Key = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    delivery: Delivery,
    as_json: AsJson = False,
) -> None:
    """Build a candidate, measure it in turn with its baseline on one host, and judge it.

    Exit codes: 0 unchanged or improved, 3 regressed, 4 inconclusive, 5 broken, invalid or missing,
    6 not comparable; 1 where the service is away, 2 for wrong input.

    For example:

      kunline gate --plan pr --base channel:main --with sglang-kunlun=./dist/*.whl

      kunline gate --with sglang=git:HEAD --budget 20m --detach

      kunline gate --local --base stack:cpu-sglang-0.5.23 --stack cpu-sglang-0.5.18
    """
    if context.invoked_subcommand is not None:
        return
    if local and (detach or attach):
        raise typer.BadParameter("--local waits for its end: there is nobody to leave it to")
    asked = BaseAsked(base, merge_base, target or _target(), source)
    named = Named(tuple(instead or ()), stack, source)
    budget_s = seconds_of(budget) if budget else None
    question = Question(plan, matrix, asked, named, cell, budget_s, key or secrets.token_hex(16))
    place = (data_dir or data_home() / "gate") if local else None
    where = Where(url, token, seconds_of(patience), place, attach, detach=detach)
    with _answered(question, where, as_json=as_json) as answer:
        typer.echo(answer.model_dump_json(indent=2) if as_json else delivery.summary(answer))
        raise typer.Exit(delivery.deliver(answer, as_json=as_json))


gates.command("report")(report)


@gates.command("list")
def list_gates(
    url: Url = DEFAULT_URL, token: Token = None, *, limit: int = 20, json: AsJson = False
) -> None:
    """List the newest gates, with what each says by now.

    Example: kunline gate list --limit 5
    """
    with service(url, token) as client:
        found = gate_calls.newest(client, limit=limit)
    if json:
        typer.echo("[" + ",".join(each.model_dump_json() for each in found) + "]")
        return
    if not found:
        typer.echo("No gate yet: `kunline gate --with …` asks for one.")
        return
    header = ("gate", "outcome", "exit", "plan", "candidate", "base", "asked by", "asked", "ended")
    print_table(header, map(_row, found))


@gates.command()
def cancel(
    gate_id: UUID, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Cancel a gate: queued launches at once, a running one at its next sign of life.

    Example: kunline gate cancel 6f1c…
    """
    with service(url, token) as client:
        found = gate_calls.cancel(client, gate_id)
    typer.echo(found.model_dump_json() if json else f"gate {found.id}: {found.answer.state}")


def _row(gate: GateListed) -> tuple[str, ...]:
    told = gate.outcome if gate.outcome is not None and gate.state == "finished" else None
    # One that a person ended has an answer too, of what was measured by then.
    word = told or f"{gate.state}{f', {gate.outcome}' if gate.outcome else ''}"
    code = "-" if gate.exit_code is None else str(gate.exit_code)
    named = (gate.plan, gate.candidate, gate.base, gate.asked_by)
    return (str(gate.id), word, code, *named, _at(gate.asked_at), _at(gate.finished_at))


def _at(moment: datetime | None) -> str:
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _target() -> str | None:
    return next((os.environ[name] for name in TARGET_VARIABLES if os.environ.get(name)), None)


@contextmanager
def _answered(question: Question, where: Where, *, as_json: bool) -> Iterator[GateAnswer]:
    """Yield what a gate answers once it is over; one that is left to itself ends the command.

    A service of its own is still up then: nobody waits for it to go before the answer is told.
    """
    if where.place is not None:
        with _locally(question, where.place) as answer:
            yield answer
        return
    with service(where.url, where.token) as client:
        found = _remotely(client, question, where)
    if where.detach:
        typer.echo(found.model_dump_json() if as_json else str(found.id))
        raise typer.Exit(DONE)
    yield _with_links(found.answer, where.url)


@contextmanager
def _locally(question: Question, data_dir: Path) -> Iterator[GateAnswer]:
    """Yield the answer of a gate that ran on this machine, in a service of its own."""
    with (
        failing_clearly(),
        _interruptible(),
        embedded_service(data_dir, port=0, runner=True, say=complain) as embedded,
        connected(embedded.url) as client,
    ):
        wait_for_runner(embedded.tree, client)
        patience = Patience(60.0, tend=embedded.tree.tend)
        upload = _upload(client, question, mode="local")
        found = gate_calls.submit(client, upload, patience, idempotency_key=question.key)
        yield gate_calls.finished(client, found, patience).answer


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        complain("stopped; nothing of this gate is measured any more")
        raise typer.Exit(INTERRUPTED) from None


def _remotely(client: Client, question: Question, where: Where) -> GateRead:
    """Return a gate of the service, once it is over unless it is detached from."""
    patience = Patience(where.wait_s)
    attach = where.attach
    if attach is None:
        upload = _upload(client, question, mode="remote")
        found = gate_calls.submit(client, upload, patience, idempotency_key=question.key)
    else:
        found = patience.through(lambda: gate_calls.read(client, attach))
    if where.detach:
        return found
    complain(f"gate {found.id} of {found.answer.candidate.stack_name}")
    try:
        return gate_calls.finished(client, found, patience)
    except KeyboardInterrupt:
        complain(
            f"gate {found.id} goes on without you: `kunline gate --attach {found.id}` waits "
            f"for it, `kunline gate cancel {found.id}` ends it"
        )
        raise typer.Exit(INTERRUPTED) from None


def _upload(client: Client, question: Question, *, mode: str) -> GateUpload:
    """Return what is to be measured; wrong input is told on stderr and exits 2."""
    try:
        matrix, file = read_matrix_and_plan(question.plan, question.matrix)
        base = base_of(client, matrix, file, question.base, local=mode == "local")
        candidate = candidate_of(question.named, matrix, base[0])
        asked = Asked(
            cell=question.cell,
            budget_s=question.budget_s,
            command=_command(sys.argv[1:], base[1].stack_name),
            mode=mode,
            who=user_name(),
        )
        upload = gate_upload(matrix, file, base=base, candidate=candidate, asked=asked)
        note = power_note(upload, known_noise(client, upload.planned.cells, host=None))
    except (*WRONG, RefusedError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    notes = (*upload.order.notes, *((note,) if note else ()))
    return replace(upload, order=upload.order.model_copy(update={"notes": notes}))


def _command(words: Sequence[str], base: str) -> tuple[str, ...]:
    """Return a command that asks the same on one's own machine, without secrets and files."""
    kept: list[str] = ["kunline", "gate", "--local"]
    options = iter(words[1:] if words[:1] == ["gate"] else words)
    for word in options:
        name, _, value = word.partition("=")
        if name in {"--with", "--stack", "--plan", "--matrix", "--source", "--budget"}:
            kept += [name, value or next(options, "")]
    return (*kept, "--base", f"stack:{base}")


def _with_links(answer: GateAnswer, url: str) -> GateAnswer:
    links = (
        GateLink(name="gate", url=f"{url}/api/v1/gates/{answer.id}"),
        GateLink(name="session", url=f"{url}/api/v1/sessions/{answer.session_id}"),
    )
    return answer.model_copy(update={"links": links})
