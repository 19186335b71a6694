"""`kunline attribute`: which component between a good and a bad stack moved the number."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.answers.words import Language
from service.cli.attribution import Question, attributed, question_of
from service.cli.attribution_calls import Told
from service.cli.attribution_page import page
from service.cli.between import Bench, Meter
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused, service
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.language import Lang
from service.cli.matrix import MatrixOption
from service.cli.plain import complain
from service.cli.plan import read_matrix_and_plan
from service.client import Client
from service.domain.attribution import NothingDiffersError
from service.domain.verdict import Outcome
from service.formats.attributions import AttributionAnswer
from service.formats.chosen_stacks import ChosenStack, chosen, chosen_file
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.mixed_stacks import Between
from service.formats.plan_files import PlanFile
from service.formats.planned_cells import planned_cells
from service.formats.planned_sessions import StackChoiceError, session_of
from service.formats.yaml_file import FileProblemsError, YamlFile

StackFileOrName = Annotated[
    str, typer.Option(metavar="STACK", help="A stack of the matrix by name, or a path to its file.")
]
HostSteps = Annotated[
    bool, typer.Option("--host-steps", help="Yes: drivers and firmware may be moved on the host.")
]
Budget = Annotated[
    float | None,
    typer.Option(min=0.0, help="Card-hours to spend at most; what is left of the search is said."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Measure nothing: how far what is known leads, and what next."),
]


def attribute(
    good: StackFileOrName,
    bad: StackFileOrName,
    matrix: MatrixOption,
    plan: Annotated[str, typer.Option(help="A plan of the matrix by name, or a path.")],
    host_steps: HostSteps = False,
    budget: Budget = None,
    dry_run: DryRun = False,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Find which component, argument or variable makes the bad stack slower than the good one.

    The bad stack is measured in turn with the good one first. Only where it is worse are combos of
    the two measured, each in turn with the good stack, at most ceil(log2 k) + 1 of them for one
    culprit among k steps. What sessions of the same plan measured before is not measured again.

    Exit codes: 0 where a culprit or an interaction is named, or nothing regressed; 4 where it could
    not be told; else that of the verdict on the bad stack.

    Example: kunline attribute --good cpu-sglang-0.5.18 --bad cpu-sglang-0.5.23 --plan smoke
    """
    read, file, question = _asked(
        matrix, plan, good=good, bad=bad, host_steps=host_steps, lang=lang
    )
    with service(url, token, lang) as client:
        meter = meter_of(budget, dry_run=dry_run)
        bench = Bench(client, read, file, meter=meter, language=lang)
        answer = attributed(bench, question) if dry_run else _told(client, bench, question)
    typer.echo(answer.model_dump_json(indent=2) if as_json else page(answer, lang))
    raise typer.Exit(exit_code(answer))


def meter_of(budget: float | None, *, dry_run: bool) -> Meter:
    """Return what may be spent. budget: card-hours, None for no limit; a dry run spends nothing."""
    if dry_run:
        return Meter(limit_s=0.0)
    return Meter(limit_s=None if budget is None else budget * 3600)


def exit_code(answer: AttributionAnswer) -> int:
    """Return the exit code: named or nothing to name, not told, or the bad stack's own verdict."""
    if answer.stopped:
        return EXIT_CODE[Outcome.INCONCLUSIVE]
    if answer.cause is None:
        return EXIT_CODE[answer.outcome]
    return DONE if answer.is_named else EXIT_CODE[Outcome.INCONCLUSIVE]


def named_stack(matrix: Matrix, name: str) -> ChosenStack:
    """Return a stack of the matrix, or that of a file. Raises what the two raise."""
    is_path = name.endswith(".yaml") or "/" in name
    return chosen_file(Path(name)) if is_path else chosen(matrix, name)


def _asked(
    matrix: Path, plan: str, *, good: str, bad: str, host_steps: bool, lang: Language
) -> tuple[Matrix, YamlFile[PlanFile], Question]:
    """Return what is asked; wrong input is told on stderr and exits 2."""
    try:
        read, file = read_matrix_and_plan(plan, matrix)
        others = [chosen(read, name) for name in read.stacks.files]
        between = Between(named_stack(read, good), named_stack(read, bad), others)
        arms, cells = (between.good, between.bad), planned_cells(read, file)
        planned = session_of(read, file, arms=arms, cells=cells)
        question = question_of(between, planned, host_steps=host_steps)
    except (
        FileProblemsError, NothingDiffersError, StackChoiceError, UnknownFileError,
    ) as error:  # fmt: skip
        complain(refused(str(error.args[0]), lang))
        raise typer.Exit(USAGE) from error
    return read, file, question


def _told(client: Client, bench: Bench, question: Question) -> AttributionAnswer:
    between = question.between
    told = Told(client, between.good.stack.key, between.bad.stack.key, bench.meter)
    answer = attributed(bench, question, told)
    told.end(answer)
    return answer
