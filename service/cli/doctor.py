"""`kunline doctor`: what is amiss on this machine, and what a maintainer needs to correct it."""

import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from service.cli.connection import AsJson, Token, Url
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.preflight import NOT_LOOKED, asked, document, question_of
from service.cli.runner_side import NoAnswerError, answer_of
from service.client import connected
from service.domain.verdict import Outcome
from service.formats.evidence import HostEvidence
from service.formats.matrix_files import UnknownFileError
from service.formats.preflights import PreflightAnswer, PreflightQuestion
from service.formats.yaml_file import FileProblemsError

LIMIT_S = 300.0
ANSWER_S = 5.0
MODE = 0o600


def doctor(
    matrix: MatrixOption,
    url: Url = "http://127.0.0.1:8000",
    token: Token = None,
    chip: Annotated[
        str | None, typer.Option("--chip", help="The chip of this host: the stack's, or cpu.")
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option("--stack", metavar="S", help="Look inside this stack's Python as well."),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Pack all that is seen: FILE.tar.gz."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what is amiss on this machine; --bundle packs what a maintainer needs.

    Secrets, serial numbers, UUIDs, host names and addresses are not in the bundle. Look into it
    before you hand it on: it holds the ends of the last servers' logs. Exit code 5 where something
    is amiss.

    For example:

      kunline doctor

      kunline doctor --stack our-p800 --bundle evidence.tar.gz
    """
    try:
        question = question_of(stack, chip=chip, build=False, matrix=matrix)
    except (FileProblemsError, UnknownFileError) as error:
        complain(str(error.args[0]))
        raise typer.Exit(USAGE) from error
    looked, why = _looked(question)
    seen = [*_service_amiss(url, token), *_layers_amiss(looked, why)]
    layers = json.dumps(document(looked) if looked else {"error": why}, indent=2)
    try:
        told = {"preflight.json": layers, "amiss.txt": "\n".join(seen)}
        evidence = _evidence(question.chip, told)
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
    amiss = [*seen, *evidence.amiss]
    if bundle is not None:
        packed(bundle, evidence.files)
    _print(amiss, bundle, as_json=as_json)
    raise typer.Exit(EXIT_CODE[Outcome.BROKEN] if amiss else DONE)


def _print(amiss: Sequence[str], bundle: Path | None, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"amiss": amiss, "bundle": str(bundle) if bundle else None}))
        return
    typer.echo("\n".join(amiss or ["Nothing is amiss."]))
    if bundle is not None:
        typer.echo(f"Packed: {bundle}. Look into it before you hand it on.")


def packed(path: Path, files: Mapping[str, str]) -> None:
    """Write texts into one archive that only its owner may read."""
    with path.open("wb") as stream, tarfile.open(fileobj=stream, mode="w:gz") as archive:
        os.fchmod(stream.fileno(), MODE)
        for name in sorted(files):
            content = files[name].encode()
            member = tarfile.TarInfo(f"kunline-evidence/{name}")
            member.size, member.mode = len(content), MODE
            archive.addfile(member, io.BytesIO(content))


def _evidence(chip: str, told: Mapping[str, str]) -> HostEvidence:
    """Return what a host shows. Raises NoAnswerError.

    told: texts that go into the bundle under the same names.
    """
    return answer_of(
        "runners.evidence",
        chip,
        question=json.dumps(told).encode(),
        read=HostEvidence.model_validate_json,
        limit_s=LIMIT_S,
        without=NOT_LOOKED,
    )


def _looked(question: PreflightQuestion) -> tuple[PreflightAnswer | None, str]:
    try:
        return asked(question), ""
    except NoAnswerError as error:
        return None, str(error)


def _layers_amiss(looked: PreflightAnswer | None, why: str) -> Iterator[str]:
    if looked is None:
        yield why
        return
    for layer in looked.layers:
        if layer.state == "broken":
            yield f"{layer.layer}: {layer.finding}; {layer.remedy}"


def _service_amiss(url: str, token: str | None) -> Iterator[str]:
    with connected(url, token=token, timeout_s=ANSWER_S) as client:
        if not client.ready():
            yield f"no service answers at {url}: start `kunline up`, or set KUNLINE_URL"
