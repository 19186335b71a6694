"""`kunline gate`: a candidate build beside its baseline, in CI; the exit code is the verdict."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

import typer

from service.cli import gate_calls
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.exit_codes import DONE
from service.cli.gate_base import BaseAsked
from service.cli.gate_calls import Patience, Watch
from service.cli.gate_candidate import Named
from service.cli.gate_local import Ended, measured_here
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
    require_all_used,
)
from service.cli.gate_question import Question, upload_of
from service.cli.gate_report import Delivery, report, with_delivery
from service.cli.lengths import seconds_of
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.tables import print_table
from service.cli.up import stopped_code, terminable
from service.client import Client
from service.formats.ci_gates import GateListed, GateRead
from service.formats.data_folder import data_home
from service.formats.gate_answers import GateAnswer, GateLink

# What a pipeline calls the branch that a pull request is to be merged into.
TARGET_VARIABLES = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")

gates = typer.Typer()


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
    6 not comparable; 1 where the service is away, 2 for wrong input, 130 and 143 where Ctrl-C or
    SIGTERM stopped it.

    For example:

      kunline gate --plan pr --base channel:main --with sglang-kunlun=./dist/*.whl

      kunline gate --with sglang=git:HEAD --budget 20m --detach

      kunline gate --local --base stack:cpu-sglang-0.5.23 --stack cpu-sglang-0.5.18
    """
    if context.invoked_subcommand is not None:
        return
    require_all_used(context)
    delivery.require_possible()
    asked = BaseAsked(base, merge_base, target or _target(), source)
    named = Named(tuple(instead or ()), stack, source)
    budget_s = seconds_of(budget) if budget else None
    question = Question(plan, matrix, asked, named, cell, budget_s, key, delivery.language)
    place = (data_dir or data_home() / "gate") if local else None
    where = Where(url, token, seconds_of(patience), place, attach, detach=detach)
    with _answered(question, where, as_json=as_json) as ended:
        raise typer.Exit(_told(ended, delivery, as_json=as_json))


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
    # No host has claimed anything of it yet.
    state = "queued" if gate.state == "running" and gate.host is None else gate.state
    word = told or f"{state}{f', {gate.outcome}' if gate.outcome else ''}"
    code = "-" if gate.exit_code is None else str(gate.exit_code)
    named = (gate.plan, gate.candidate, gate.base, gate.asked_by)
    return (str(gate.id), word, code, *named, _at(gate.asked_at), _at(gate.finished_at))


def _at(moment: datetime | None) -> str:
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def _target() -> str | None:
    return next((os.environ[name] for name in TARGET_VARIABLES if os.environ.get(name)), None)


def _told(ended: Ended, delivery: Delivery, *, as_json: bool) -> int:
    """Tell an answer and deliver it, and return the exit code; of one in between files are kept."""
    answer = ended.answer
    typer.echo(answer.model_dump_json(indent=2) if as_json else delivery.summary(answer))
    if ended.stopped is None:
        return delivery.deliver(answer, as_json=as_json)
    delivery.to_files().deliver(answer, as_json=as_json)
    return ended.stopped


@contextmanager
def _answered(question: Question, where: Where, *, as_json: bool) -> Iterator[Ended]:
    """Yield what a gate answers once it is over; one that is left to itself ends the command.

    A service of its own is still up then: nobody waits for it to go before the answer is told.
    """
    if where.place is not None:
        with measured_here(question, where.place) as ended:
            yield ended
        return
    with service(where.url, where.token) as client, terminable():
        found = _remotely(client, question, where)
    if where.detach:
        typer.echo(found.model_dump_json() if as_json else str(found.id))
        raise typer.Exit(DONE)
    yield Ended(_with_links(found.answer, where.url))


def _remotely(client: Client, question: Question, where: Where) -> GateRead:
    """Return a gate of the service, once it is over unless it is detached from."""
    patience = Patience(where.wait_s)
    found: GateRead | None = None
    try:
        found = _asked(client, question, where, patience)
        complain(f"gate {found.id} of {found.answer.candidate.stack_name}")
        watch = Watch(client, found, patience, question.language)
        patience.through(watch.look)
        return found if where.detach else gate_calls.finished(watch)
    except KeyboardInterrupt as stop:
        complain(_left(found))
        raise typer.Exit(stopped_code(stop)) from None


def _asked(client: Client, question: Question, where: Where, patience: Patience) -> GateRead:
    """Return the gate that is attached to, or a new one."""
    attach = where.attach
    if attach is not None:
        return patience.through(lambda: gate_calls.read(client, attach))
    upload = upload_of(client, question, patience, mode="remote")
    return gate_calls.submit(client, upload, patience, key=question.key)


def _left(found: GateRead | None) -> str:
    if found is None:
        return "stopped before it was known as a gate; `kunline gate list` shows if it became one"
    return (
        f"gate {found.id} goes on without you: `kunline gate --attach {found.id}` waits "
        f"for it, `kunline gate cancel {found.id}` ends it"
    )


def _with_links(answer: GateAnswer, url: str) -> GateAnswer:
    """Return an answer with its pages in the dashboard, for whoever reads it in a comment."""
    place = url.rstrip("/")
    links = (
        GateLink(name="gate", url=f"{place}/gates/{answer.id}"),
        GateLink(name="session", url=f"{place}/queue/{answer.session_id}"),
    )
    return answer.model_copy(update={"links": links})
