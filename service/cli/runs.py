"""`kunline runs`: what was measured, newest first; one run; and what people did to it."""

from typing import Annotated, Any, cast, get_args
from uuid import UUID

import typer
from typer.core import TyperGroup

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.person import user_name
from service.cli.tables import print_table
from service.domain.key import short
from service.domain.metric import METRICS, Role
from service.formats.audits import AuditRead
from service.formats.runs import RunDetail, RunPage, RunRead, RunState
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder

STATES = get_args(RunState)


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
    stack: Annotated[str | None, typer.Option(help="Only of this stack key.")] = None,
    condition: Annotated[str | None, typer.Option(help="Only under this condition key.")] = None,
    state: Annotated[str | None, typer.Option(help=f"Only {', '.join(STATES)}.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Go on where a list ended.")] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """List runs, newest first; or show, withdraw or restore one, or say what was done to it.

    Examples:
      kunline runs --session 6f1c2d7e-0a51-4a39-9a5e-0c2f5a9d6b11 --state invalid

      kunline runs show 0d8c7f3a-7c1e-4a0e-9a46-2f6f1e0f5c22
    """
    if context.invoked_subcommand is not None:
        return
    if state is not None and state not in STATES:
        raise typer.BadParameter(f"--state is one of {', '.join(STATES)}, not {state}")
    with service(url, token) as client:
        page = client.runs(
            stack_key=stack,
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
    typer.echo(done.model_dump_json() if json else f"run {run_id} is withdrawn: {done.reason}")


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
    typer.echo(done.model_dump_json() if json else f"run {run_id} counts again: {done.reason}")


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
    if not reason.strip():
        raise typer.BadParameter("--reason says why, in words")
    return reason


def _print_page(page: RunPage, *, json: bool) -> None:
    if json:
        typer.echo(page.model_dump_json())
        return
    if not page.runs:
        typer.echo("No run matches; `kunline run PLAN` measures some.")
        return
    judged = [metric.name for metric in METRICS.values() if metric.role is Role.JUDGED]
    header = ("run", "cell", "stack", "host", "state", "repeats", *judged, "measured at")
    rows = [
        (
            str(run.id),
            run.title,
            run.stack_name,
            run.host,
            _words(run),
            str(run.repeats),
            *(f"{run.medians[name]:.4g}" if name in run.medians else "-" for name in judged),
            f"{run.measured_at:%Y-%m-%d %H:%M:%S} UTC",
        )
        for run in page.runs
    ]
    print_table(header, rows)
    if page.cursor:
        typer.echo(f"older ones: --cursor {page.cursor}")


def _words(run: RunRead) -> str:
    """Return a run's state, and what else decides whether it counts."""
    marks = (("drifted", run.drifted), ("imported", run.imported), ("withdrawn", run.withdrawn))
    return ", ".join([run.state, *(mark for mark, holds in marks if holds)])


def _print_run(detail: RunDetail, *, json: bool) -> None:
    if json:
        typer.echo(detail.model_dump_json())
        return
    run = detail.run
    typer.echo(f"run {run.id}: {run.title} on {run.stack_name} ({short(run.stack_key)})")
    typer.echo(f"{_words(run)} on {run.host} at {run.measured_at:%Y-%m-%d %H:%M:%S} UTC")
    if gone := detail.withdrawal:
        instead = f"; replaced by {gone.replaced_by}" if gone.replaced_by else ""
        when = f"{gone.withdrawn_at:%Y-%m-%d %H:%M:%S} UTC"
        typer.echo(f"  withdrawn by {gone.withdrawn_by} at {when}: {gone.reason}{instead}")
    if source := detail.imported:
        typer.echo(f"  imported from line {source.line} of {source.file}, written by {source.tool}")
    for finding in detail.findings:
        if finding.severity != "unknown":
            typer.echo(f"  {finding.severity} {finding.code}: {finding.message}")
    if unknown := [each.code for each in detail.findings if each.severity == "unknown"]:
        typer.echo(f"  not known to hold: {', '.join(unknown)}")
    if detail.broken:
        typer.echo(f"  broken at {detail.broken.layer}: {detail.broken.finding}")
    seeds = [f"seed {seed}" for seed in detail.seeds] or ["repeat"]
    header = ("metric", "unit", *seeds)
    rows = [
        (name, METRICS[name].unit.value, *(f"{value:.5g}" for value in values))
        for name, values in sorted(detail.values.items())
    ]
    print_table(header, rows)
