"""`kunline scaling …`: several cards against one, and what their messages cost."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.lines import share
from service.cli.parameters import show_parameters
from service.cli.tables import print_table
from service.formats.communications import CellCommunication, CommunicationRead, PhaseRead
from service.formats.scaling import ScalingPoint, ScalingRead, ScalingRow

scalings = typer.Typer(
    no_args_is_help=True, help="Several cards against one, and what their messages cost."
)

HEADER = ("stack", "host", "workload on one card", "cards", "launches", "speedup", "efficiency")
MESSAGES = ("cell", "stack", "phase", "a message", "of a pass", "kind", "estimated", "share")
MIB = 2**20


@scalings.command()
def show(
    stack: Annotated[str | None, typer.Option("--stack", help="Name or key; else all.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="On this host alone.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="Of this model alone.")] = None,
    metric: Annotated[
        str, typer.Option("--metric", help="Turned so that a speedup above 1 is faster.")
    ] = "output_throughput",
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    json: AsJson = False,
) -> None:
    """Show how much faster several cards are than one, for every pair that was measured.

    Several cards can be slower than one: then the row says so.

    Example: kunline scaling show --stack p800-sglang-kunlun-recipe
    """
    query = {"stack": stack, "host": host, "model": model, "metric": metric}
    with service(url, token) as client:
        found = client.ask(ScalingRead, "scaling", query=query)
    if json:
        typer.echo(found.model_dump_json())
        return
    if not found.rows:
        typer.echo("No pair yet: measure a workload on one card and on several, on one host.")
        return
    print_table(HEADER, [_line(row, point) for row in found.rows for point in row.many])


@scalings.command()
def messages(
    session_id: UUID, url: Url = DEFAULT_URL, token: Token = None, *, json: AsJson = False
) -> None:
    """Show what share of TTFT and TPOT is communication, cell by cell of a session.

    It is an estimate: the volume of a tensor parallel layout, timed by the collectives that were
    measured on the same cards before the launch. "≥" stands where other requests' passes are in
    the measured time as well.

    Example: kunline scaling messages 6f1c…
    """
    with service(url, token) as client:
        found = client.ask(
            CommunicationRead, "communication", query={"session_id": str(session_id)}
        )
    if json:
        typer.echo(found.model_dump_json())
        return
    print_table(MESSAGES, [line for cell in found.cells for line in _lines(cell)])
    for sentence in found.slow_links:
        typer.echo(f"slow: {sentence}")
    for reason in dict.fromkeys(cell.reason for cell in found.cells if cell.reason):
        count = sum(cell.reason == reason for cell in found.cells)
        typer.echo(f"{count} cells are not estimated: {reason}")


scalings.command("parameters")(show_parameters)


def _line(row: ScalingRow, point: ScalingPoint) -> Sequence[str]:
    between = (
        f" ({point.low:.2f} to {point.high:.2f})"
        if point.low is not None and point.high is not None
        else ""
    )
    slower = ": slower than one card" if point.slower else ""
    return (
        row.stack.name,
        row.host,
        row.title,
        f"{point.cards} (tp{point.tp})",
        f"{row.one.launches} and {point.launches}",
        f"{point.speedup:.2f}{between}{slower}",
        share(point.efficiency),
    )


def _lines(cell: CellCommunication) -> Sequence[Sequence[str]]:
    phases = (("decode", cell.decode), ("prefill", cell.prefill))
    return [_phase(cell, name, phase) for name, phase in phases if phase is not None]


def _phase(cell: CellCommunication, name: str, phase: PhaseRead) -> Sequence[str]:
    passes = f" in {phase.passes} passes" if phase.passes > 1 else ""
    return (
        cell.title,
        cell.stack.name,
        name,
        f"{phase.message_bytes / MIB:.3g} MiB × {phase.messages}",
        f"{phase.pass_bytes / MIB:.4g} MiB{passes}",
        phase.kind,
        f"{phase.seconds * 1e3:.2f} of {phase.measured_s * 1e3:.2f} ms",
        f"{'≥ ' if phase.at_least else ''}{share(phase.share)}",
    )
