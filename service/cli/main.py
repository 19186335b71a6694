"""The `kunline` command: every command, registered in the order people meet them."""

from importlib.metadata import version
from typing import Annotated

import typer

from service.cli import serve
from service.cli.baseline import baselines
from service.cli.compare import compare
from service.cli.demo import demo
from service.cli.detect import detect
from service.cli.host import hosts
from service.cli.import_ import import_results
from service.cli.matrix import check
from service.cli.noise import noise
from service.cli.plan import plan
from service.cli.read import read
from service.cli.run import run
from service.cli.runs import runs
from service.cli.session import sessions
from service.cli.stack import stacks
from service.cli.up import up

main = typer.Typer(
    name="kunline",
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

for command in (demo, up, run, plan, noise, compare, read, detect):
    main.command()(command)
main.command("import")(import_results)
main.add_typer(matrix, name="matrix")
main.add_typer(runs, name="runs")
main.add_typer(stacks, name="stack")
main.add_typer(baselines, name="baseline")
main.add_typer(sessions, name="session")
main.add_typer(hosts, name="host")
for process in (serve.serve, serve.worker, serve.scheduler, serve.runner):
    main.command()(process)
main.command("db", context_settings=serve.PASS_ON)(serve.database)
main.command("token", context_settings=serve.PASS_ON)(serve.token)
