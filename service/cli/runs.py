"""`kunline runs`: what was measured, newest first; one run; and what people did to it."""

import re
from typing import Annotated, Any, cast, get_args
from uuid import UUID

import typer
from pydantic import TypeAdapter
from typer.core import TyperGroup

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.lines import level
from service.cli.person import user_name
from service.cli.plain import plain
from service.cli.stated import checked
from service.cli.tables import print_table, print_whole
from service.domain.key import short
from service.domain.metric import METRICS, Role
from service.formats.audits import AuditRead
from service.formats.runs import RunDetail, RunPage, RunRead, RunState
from service.formats.withdrawals import Reason, RestorationOrder, WithdrawalOrder

STATES = get_args(RunState)
REASON: TypeAdapter[str] = TypeAdapter(Reason)
_KEY = re.compile(r"[0-9a-f]{64}")
_JUDGED = [metric.name for metric in METRICS.values() if metric.role is Role.JUDGED]


class _RunsByDefault(TyperGroup):
    """A group that takes a run's id for `show` and that id."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `show` before an id that stands where a command would."""
        if args and _is_id(args[0]):
            args = ["show", *args]
        return super().parse_args(ctx, args)


def _is_id(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False


runs = typer.Typer(cls=_RunsByDefault, invoke_without_command=True)

RunId = Annotated[UUID, typer.Argument(metavar="RUN", help="The run's id.")]
Why = Annotated[str, typer.Option("--reason", help="Why; it is kept with the run.")]


@runs.callback()
def list_runs(
    context: typer.Context,
    session: Annotated[UUID | None, typer.Option(help="Only of this session.")] = None,
    stack: Annotated[str | None, typer.Option(help="Only of this stack: key or name.")] = None,
    condition: Annotated[
        str | None, typer.Option(help="Only under this condition: its whole key.")
    ] = None,
    state: Annotated[str | None, typer.Option(help=f"Only {', '.join(STATES)}.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List runs, the newest first; or show one, withdraw it, restore it, tell its history.

    For example:

      kunline runs --stack cpu-sglang-0.5.23 --limit 5

      kunline runs --session 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11 --state invalid

      kunline runs show 0d8c7f3a-7c1e-4a0e-9a46-2f6f1e0f5c22
    """
    if context.invoked_subcommand is not None:
        return
    if state is not None and state not in STATES:
        raise typer.BadParameter(f"--state is one of {', '.join(STATES)}, not {state}")
    if condition is not None and not _KEY.fullmatch(condition):
        raise typer.BadParameter("--condition takes all 64 digits of a key; `--json` tells them")
    with service(url, token) as client:
        page = client.runs(
            stack_key=stack if stack is None else client.stack(stack).key,
            condition_key=condition,
            session_id=session,
            state=cast("RunState | None", state),
            limit=limit,
            cursor=cursor,
        )
    _print_page(page, json=json)


@runs.command()
def show(
    run_id: RunId, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Show one run with every repeat.

    Example: kunline runs show 0d8c7f3a-7c1e-4a0e-9a46-2f6f1e0f5c22
    """
    with service(url, token) as client:
        _print_run(client.run(run_id), json=json)


@runs.command()
def withdraw(
    run_id: RunId,
    reason: Why,
    replaced_by: Annotated[
        UUID | None, typer.Option(metavar="RUN", help="The run that stands in its place.")
    ] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Take a run out of every judgement. It is kept, and shown as withdrawn.

    Example: kunline runs withdraw 0d8c7f3a-7c1e-4a0e-9a46-2f6f1e0f5c22 --reason "wrong driver"
    """
    reason = _stated(reason)
    with service(url, token) as client:
        order = WithdrawalOrder(reason=reason, replaced_by=replaced_by, who=user_name())
        done = client.withdraw(run_id, order)
    typer.echo(
        done.model_dump_json() if json else plain(f"run {run_id} is withdrawn: {done.reason}")
    )


@runs.command()
def restore(
    run_id: RunId,
    reason: Why,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Take a withdrawal back: the run counts again.

    Example: kunline runs restore 0d8c7f3a-7c1e-4a0e-9a46-2f6f1e0f5c22 --reason "driver was right"
    """
    reason = _stated(reason)
    with service(url, token) as client:
        done = client.restore(run_id, RestorationOrder(reason=reason, who=user_name()))
    typer.echo(
        done.model_dump_json() if json else plain(f"run {run_id} counts again: {done.reason}")
    )


@runs.command()
def history(
    run_id: RunId, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Show what people did to a run: who, when, why, and what it was before and after.

    Example: kunline runs history 0d8c7f3a-7c1e-4a0e-9a46-2f6f1e0f5c22
    """
    with service(url, token) as client:
        found = client.history(run_id)
    if json:
        typer.echo("[" + ",".join(entry.model_dump_json() for entry in found) + "]")
        return
    if not found:
        typer.echo("Nobody did anything to this run.")
        return
    print_table(("at", "who", "act", "why", "from", "to"), map(_history_row, found))


def _history_row(entry: AuditRead) -> tuple[str, ...]:
    at = f"{entry.at:%Y-%m-%d %H:%M:%S} UTC"
    return (at, entry.actor, entry.act, entry.reason, _state(entry.before), _state(entry.after))


def _state(state: dict[str, Any] | None) -> str:
    """Return what a run was before or after an act, in words."""
    if state is None:
        return "-"
    if not state.get("withdrawn"):
        return "counted"
    by = state.get("replaced_by")
    return f"withdrawn, replaced by {by}" if by else "withdrawn"


def _stated(reason: str) -> str:
    return checked(REASON, "--reason", reason) or reason


def _print_page(page: RunPage, *, json: bool) -> None:
    if json:
        typer.echo(page.model_dump_json())
        return
    if not page.runs:
        typer.echo("No run matches; `kunline run PLAN` measures some.")
        return
    header = ("run", "cell", "stack", "host", "state", "repeats", *_JUDGED, "measured at")
    if not print_whole(header, map(_row, page.runs)):
        for run in page.runs:
            _print_lines(run)
    if page.cursor:
        typer.echo(plain(f"older ones: --cursor {page.cursor}"))


def _row(run: RunRead) -> tuple[str, ...]:
    return (
        str(run.id),
        run.title,
        _stack(run),
        run.host,
        _words(run),
        str(run.repeats),
        *(level(name, run.medians.get(name)) for name in _JUDGED),
        f"{run.measured_at:%Y-%m-%d %H:%M:%S} UTC",
    )


def _print_lines(run: RunRead) -> None:
    """Print a run as lines that may wrap: an id that is broken in two cannot be copied."""
    at = f"{run.measured_at:%Y-%m-%d %H:%M:%S} UTC"
    values = [f"{name} {level(name, run.medians[name])}" for name in _JUDGED if name in run.medians]
    typer.echo(f"{run.id} {_words(run)}")
    typer.echo(plain(f"  {run.title} on {_stack(run)}, {run.host}, {at}"))
    typer.echo(
        f"  {run.repeats} {'repeat' if run.repeats == 1 else 'repeats'}: {', '.join(values)}"
    )


def _stack(run: RunRead) -> str:
    return f"{run.stack_name} ({short(run.stack_key)})"


def _words(run: RunRead) -> str:
    """Return a run's state, and what else decides whether it counts."""
    marks = (("drifted", run.drifted), ("imported", run.imported), ("withdrawn", run.withdrawn))
    return ", ".join([run.state, *(mark for mark, holds in marks if holds)])


def _print_run(detail: RunDetail, *, json: bool) -> None:
    if json:
        typer.echo(detail.model_dump_json())
        return
    run = detail.run
    typer.echo(plain(f"run {run.id}: {run.title} on {_stack(run)}"))
    typer.echo(plain(f"{_words(run)} on {run.host} at {run.measured_at:%Y-%m-%d %H:%M:%S} UTC"))
    if gone := detail.withdrawal:
        instead = f"; replaced by {gone.replaced_by}" if gone.replaced_by else ""
        when = f"{gone.withdrawn_at:%Y-%m-%d %H:%M:%S} UTC"
        typer.echo(plain(f"  withdrawn by {gone.withdrawn_by} at {when}: {gone.reason}{instead}"))
    if source := detail.imported:
        typer.echo(
            plain(f"  imported from line {source.line} of {source.file}, written by {source.tool}")
        )
    for finding in detail.findings:
        if finding.severity != "unknown":
            typer.echo(plain(f"  {finding.severity} {finding.code}: {finding.message}"))
    if unknown := [each.code for each in detail.findings if each.severity == "unknown"]:
        typer.echo(plain(f"  not known to hold: {', '.join(unknown)}"))
    if detail.broken:
        typer.echo(plain(f"  broken at {detail.broken.layer}: {detail.broken.finding}"))
    seeds = [f"seed {seed}" for seed in detail.seeds] or ["repeat"]
    header = ("metric", "unit", *seeds)
    rows = [
        (name, METRICS[name].unit.value, *(f"{value:.5g}" for value in values))
        for name, values in sorted(detail.values.items())
    ]
    print_table(header, rows)
