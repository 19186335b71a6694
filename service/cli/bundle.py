"""`kunline bundle …`: everything a site without a network needs, in one archive."""

import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Annotated

import typer

from service.cli.connection import AsJson, complain
from service.cli.exit_codes import OPERATIONAL, USAGE
from service.cli.matrix import MatrixOption
from service.cli.processes import module
from service.formats.build_sections import BuildSection
from service.formats.bundles import BundleMade, BundleQuestion, PackedEnvironment
from service.formats.chosen_stacks import chosen
from service.formats.lock_files import Lock
from service.formats.matrix_files import Matrix, UnknownFileError, read_matrix
from service.formats.yaml_file import FileProblemsError

bundles = typer.Typer(no_args_is_help=True, help="Everything a site without a network needs.")

CHECKOUT = Path(__file__).resolve().parents[2]
LIMIT_S = 4 * 3600.0
GB = 1e9


@bundles.command()
def make(
    plans: Annotated[list[str], typer.Argument(metavar="PLAN…", help="To be measured there.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The archive, a .tar.")],
    matrix: MatrixOption,
    python: Annotated[
        Path | None,
        typer.Option("--python", help="A relocatable Python's program, built for an old glibc."),
    ] = None,
    glibc: Annotated[
        str | None, typer.Option("--glibc", metavar="2.N", help="Refuse what needs a newer one.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Pack a Python with Kunline in it, the matrix, and what some plans measure and drive.

    Stacks that are found on a host go along as files of the matrix alone. It is made in a
    checkout, with a network.

    Example: kunline bundle make smoke --out kunline.tar --glibc 2.31
    """
    try:
        environments = _environments(read_matrix(matrix), plans)
    except (FileProblemsError, UnknownFileError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    question = BundleQuestion(
        out=str(out.absolute()),
        checkout=str(CHECKOUT),
        matrix=str(matrix.absolute()),
        python=str(python.absolute()) if python else None,
        glibc=glibc,
        environments=environments,
    )
    made = BundleMade.model_validate_json(_asked(question.model_dump_json().encode()))
    if json:
        typer.echo(made.model_dump_json())
        return
    needs = ", ".join(f"{part} {each}" for part, each in made.needs.items())
    typer.echo(
        f"{made.path}: {made.size_bytes / GB:.2f} GB, {made.files} files, for glibc {made.glibc} "
        f"or newer ({needs}). There: tar xf {out.name} && kunline-bundle/load"
    )


@bundles.command()
def load(
    bundle: Annotated[Path, typer.Argument(help="The archive, or the folder it was unpacked to.")],
    into: Annotated[Path, typer.Option("--into", help="Where an archive is unpacked to.")] = Path(),
    *,
    json: AsJson = False,
) -> None:
    """Verify a bundle and make it ready where it lies; nothing is fetched and nobody is root.

    Example: kunline bundle load kunline-bundle
    """
    words = [str(bundle)] if bundle.is_dir() else [str(bundle), str(into)]
    told = _asked(b"", *words)
    root = bundle if bundle.is_dir() else into / "kunline-bundle"
    if json:
        typer.echo(told.decode())
        return
    typer.echo(f"Every file is as packed. Start with {root.absolute() / 'bin' / 'kunline'} --help")


def _environments(matrix: Matrix, plans: list[str]) -> tuple[PackedEnvironment, ...]:
    """Return what some plans' stacks and clients are built from, each once.

    Raises UnknownFileError and FileProblemsError.
    """
    found: dict[tuple[bytes, str | None, str | None], PackedEnvironment] = {}
    for name in plans:
        plan = matrix.plans.named(name).shape
        for stack_name in plan.stacks:
            stack = chosen(matrix, stack_name)
            _add(found, stack.file.shape.build, stack.lock)
        clients = {plan.client, *(cell.client for cell in plan.cells if cell.client)}
        for client_name in sorted(clients):
            file = matrix.clients.named(client_name)
            _add(found, file.shape.build, matrix.locks.get(file.shown))
    return tuple(found.values())


def _add(
    found: dict[tuple[bytes, str | None, str | None], PackedEnvironment],
    build: object,
    lock: Lock | None,
) -> None:
    if isinstance(build, BuildSection) and lock is not None:
        key = (lock.content, build.torch, build.platform)
        encoded = b64encode(lock.content)
        found[key] = PackedEnvironment(lock=encoded, torch=build.torch, platform=build.platform)


def _asked(question: bytes, *words: str) -> bytes:
    """Return what the runner's side answers, or end the command with its exit code."""
    try:
        done = subprocess.run(
            module("runners.bundles", *words),
            input=question,
            stdout=subprocess.PIPE,
            check=False,
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError) as error:
        complain(f"no bundle: {error}")
        raise typer.Exit(OPERATIONAL) from error
    if done.returncode != 0:
        raise typer.Exit(USAGE if done.returncode == USAGE else OPERATIONAL)
    return done.stdout
