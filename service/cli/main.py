"""The `kunline` command: every command, registered in the order people meet them."""

import errno
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from service.cli import serve
from service.cli.attribute import attribute
from service.cli.baseline import baselines
from service.cli.bundle import bundles
from service.cli.compare import compare
from service.cli.compat import compats
from service.cli.confirm import confirms
from service.cli.connection import complain
from service.cli.demo import demo
from service.cli.detect import detect
from service.cli.doctor import doctor
from service.cli.events import events
from service.cli.exit_codes import OPERATIONAL
from service.cli.experiment import experiment
from service.cli.gate import gates
from service.cli.host import hosts
from service.cli.import_ import import_results
from service.cli.incident import incidents
from service.cli.matrix import check
from service.cli.noise import noise
from service.cli.notify import webhooks
from service.cli.plan import plan
from service.cli.preflight import preflight
from service.cli.qualify import qualify
from service.cli.read import read
from service.cli.run import run
from service.cli.runs import runs
from service.cli.scaling import scalings
from service.cli.schedule import schedules
from service.cli.session import sessions
from service.cli.stack import stacks
from service.cli.up import up
from service.cli.waiver import waivers

_NOWHERE_TO_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


class _Commands(TyperGroup):
    """Commands of which none ends in a traceback because its answer could not be written."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Exits 1 with a sentence where a disk is full."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno not in _NOWHERE_TO_WRITE:
                raise
            where = f" {error.filename}" if error.filename else ""
            complain(f"cannot write{where}: {error.strerror}; what is written so far is not whole")
            raise typer.Exit(OPERATIONAL) from error


main = typer.Typer(
    name="kunline",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("kunline"))
        raise typer.Exit


@main.callback()
def kunline(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = False,
) -> None:
    """Measure, store, judge and compare the speed of SGLang stacks on Kunlun cards."""


matrix = typer.Typer(no_args_is_help=True, help="The files that say what is measured.")
matrix.command()(check)

for command in (
    demo,
    up,
    run,
    plan,
    preflight,
    doctor,
    noise,
    qualify,
    compare,
    read,
    detect,
    attribute,
    experiment,
):
    main.command()(command)
main.command("import")(import_results)
main.add_typer(gates, name="gate")
main.add_typer(waivers, name="waiver")
main.add_typer(matrix, name="matrix")
main.add_typer(runs, name="runs")
main.add_typer(events, name="events")
main.add_typer(confirms, name="confirm")
main.add_typer(incidents, name="incident")
main.add_typer(webhooks, name="notify")
main.add_typer(stacks, name="stack")
main.add_typer(baselines, name="baseline")
main.add_typer(sessions, name="session")
main.add_typer(compats, name="compat")
main.add_typer(scalings, name="scaling")
main.add_typer(schedules, name="schedule")
main.add_typer(hosts, name="host")
main.add_typer(bundles, name="bundle")
for process in (serve.serve, serve.worker, serve.scheduler, serve.runner):
    main.command()(process)
main.command("db", context_settings=serve.PASS_ON)(serve.database)
main.command("token", context_settings=serve.PASS_ON)(serve.token)
