"""`kunline runs`: what was measured, newest first, or one run with every repeat."""

from typing import Annotated, cast, get_args
from uuid import UUID

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.tables import print_table
from service.domain.key import short
from service.domain.metric import METRICS, Role
from service.formats.runs import RunDetail, RunPage, RunState

STATES = get_args(RunState)


def runs(
    run_id: Annotated[UUID | None, typer.Argument(help="One run, with every repeat.")] = None,
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
    """List runs, newest first, or show one.

    Example: kunline runs --session 6f1c… --state invalid
    """
    if state is not None and state not in STATES:
        raise typer.BadParameter(f"--state is one of {', '.join(STATES)}, not {state}")
    with service(url, token) as client:
        if run_id is not None:
            _print_run(client.run(run_id), json=json)
            return
        page = client.runs(
            stack_key=stack,
            condition_key=condition,
            session_id=session,
            state=cast("RunState | None", state),
            limit=limit,
            cursor=cursor,
        )
    _print_page(page, json=json)


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
            f"{run.state}, drifted" if run.drifted else run.state,
            str(run.repeats),
            *(f"{run.medians[name]:.4g}" if name in run.medians else "-" for name in judged),
            f"{run.measured_at:%Y-%m-%d %H:%M:%S} UTC",
        )
        for run in page.runs
    ]
    print_table(header, rows)
    if page.cursor:
        typer.echo(f"older ones: --cursor {page.cursor}")


def _print_run(detail: RunDetail, *, json: bool) -> None:
    if json:
        typer.echo(detail.model_dump_json())
        return
    run = detail.run
    typer.echo(f"run {run.id}: {run.title} on {run.stack_name} ({short(run.stack_key)})")
    typer.echo(f"{run.state} on {run.host} at {run.measured_at:%Y-%m-%d %H:%M:%S} UTC")
    for finding in detail.findings:
        typer.echo(f"  {finding.severity} {finding.code}: {finding.message}")
    if detail.broken:
        typer.echo(f"  broken at {detail.broken.layer}: {detail.broken.finding}")
    header = ("metric", "unit", *(f"seed {seed}" for seed in detail.seeds))
    rows = [
        (name, METRICS[name].unit.value, *(f"{value:.5g}" for value in values))
        for name, values in sorted(detail.values.items())
    ]
    print_table(header, rows)
