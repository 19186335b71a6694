"""`kunline bundle …`: everything a site without a network needs, in one archive."""

from base64 import b64encode
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from service.cli.connection import AsJson
from service.cli.exit_codes import USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.runner_side import NoAnswerError, answer_of
from service.formats.build_sections import BuildSection, ContainerSection
from service.formats.bundles import (
    BundleLoaded,
    BundleMade,
    BundleQuestion,
    LoadedImage,
    PackedEnvironment,
    WantedImage,
)
from service.formats.chosen_stacks import chosen
from service.formats.lock_files import Lock
from service.formats.matrix_files import Matrix, UnknownFileError, read_matrix
from service.formats.yaml_file import FileProblemsError

bundles = typer.Typer(no_args_is_help=True, help="Everything a site without a network needs.")

CHECKOUT = Path(__file__).resolve().parents[2]
LIMIT_S = 4 * 3600.0
GB = 1e9
Answer = TypeVar("Answer", BundleMade, BundleLoaded)


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
    images: Annotated[
        list[Path] | None,
        typer.Option("--image", metavar="FILE", help="An archive of an image that stacks name."),
    ] = None,
    plugins: Annotated[
        list[Path] | None, typer.Option("--plugin", metavar="WHEEL", help="A plugin's wheel.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Pack a Python with Kunline in it, the matrix, and what some plans measure and drive.

    Stacks that are found on a host go along as files of the matrix alone, and images as the
    archives that are given. It is made in a checkout, with a network.

    Example: kunline bundle make smoke --out kunline.tar --glibc 2.31
    """
    try:
        environments, wanted = _named(read_matrix(matrix), plans)
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
        wanted=wanted,
        images=tuple(str(path.absolute()) for path in images or ()),
        plugins=tuple(str(path.absolute()) for path in plugins or ()),
    )
    made = _asked(BundleMade, question.model_dump_json().encode())
    if json:
        typer.echo(made.model_dump_json())
        return
    typer.echo("\n".join(_told(made, out.name)))


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
    here = _asked(BundleLoaded, b"", *words)
    if json:
        typer.echo(here.model_dump_json())
        return
    typer.echo("Every file is as packed.")
    for image in here.images:
        typer.echo(_became(image))
    for plugin in here.plugins:
        typer.echo(f"plugin {plugin}")
    typer.echo(f"Start with {Path(here.root) / 'bin' / 'kunline'} --help")


def _told(made: BundleMade, name: str) -> list[str]:
    """Return what a person is told of a bundle that was made."""
    needs = ", ".join(f"{part} {each}" for part, each in made.needs.items())
    size = f"{made.size_bytes / GB:.2f} GB, {made.files} files"
    return [
        f"{made.path}: {size}, for glibc {made.glibc} or newer ({needs}).",
        *([f"of the host: {', '.join(made.libraries)}"] if made.libraries else []),
        *(f"image {each.image}@{each.digest} goes along" for each in made.images),
        *(f"plugin {Path(each.place).name}, SHA-256 {each.digest}" for each in made.plugins),
        *(
            f"image {each.image}@{each.digest} does not go along: give its archive with --image"
            for each in made.absent
        ),
        f"There: tar xOf {name} kunline-bundle/load | sh -s -- {name}",
    ]


def _became(image: LoadedImage) -> str:
    named = f"image {image.image}@{image.digest}"
    if image.engine is not None:
        return f"{named}: {image.engine} has it"
    return (
        f"{named}: there is no container engine here, so it is kept in {image.archive}; load this "
        "bundle again where there is one"
    )


def _named(
    matrix: Matrix, plans: list[str]
) -> tuple[tuple[PackedEnvironment, ...], tuple[WantedImage, ...]]:
    """Return what some plans' stacks and clients are built from, and their images, each once.

    Raises UnknownFileError and FileProblemsError.
    """
    found: dict[object, PackedEnvironment] = {}
    images: dict[WantedImage, None] = {}
    for name in plans:
        plan = matrix.plans.named(name).shape
        for stack_name in plan.stacks:
            stack = chosen(matrix, stack_name)
            build = stack.file.shape.build
            _add(found, build, stack.lock, serves=True)
            if isinstance(build, ContainerSection):
                images[WantedImage(image=build.image, digest=build.digest)] = None
        clients = {plan.client, *(cell.client for cell in plan.cells if cell.client)}
        for client_name in sorted(clients):
            file = matrix.clients.named(client_name)
            _add(found, file.shape.build, matrix.locks.get(file.shown), serves=False)
    return tuple(found.values()), tuple(images)


def _add(
    found: dict[object, PackedEnvironment], build: object, lock: Lock | None, *, serves: bool
) -> None:
    if isinstance(build, BuildSection) and lock is not None:
        key = (lock.content, build.torch, build.platform)
        before = found.get(key)
        found[key] = PackedEnvironment(
            lock=b64encode(lock.content),
            torch=build.torch,
            platform=build.platform,
            serves=serves or (before is not None and before.serves),
        )


def _asked(kind: type[Answer], question: bytes, *words: str) -> Answer:
    try:
        return answer_of(
            "runners.bundles",
            *words,
            question=question,
            read=kind.model_validate_json,
            limit_s=LIMIT_S,
            without="no bundle",
        )
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
