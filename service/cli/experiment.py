"""`kunline experiment`: one parameter, several values, everything else equal, in turn."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import typer

from service.cli.answers.words import Language
from service.cli.between import Bench, Measured
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused, service
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.experiment_words import CATALOGUES
from service.cli.language import Lang
from service.cli.lines import percent
from service.cli.matrix import MatrixOption
from service.cli.parameters import caution_of
from service.cli.plain import complain, plain
from service.cli.plan import PlanArgument, read_matrix_and_plan
from service.cli.verdict_table import print_verdicts
from service.cli.verdict_words import spoken
from service.domain.experiment import (
    ExperimentError,
    Parameter,
    Seen,
    confidence_of_each,
    one_parameter,
    recommended,
)
from service.domain.metric import UnknownMetricError, metric_named
from service.domain.verdict import Outcome, foremost
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.comparisons import CellComparison
from service.formats.experiments import ExperimentAnswer, ExperimentArm, RecommendationRead
from service.formats.matrix_files import Matrix, UnknownFileError
from service.formats.mixed_stacks import SettingError, with_setting
from service.formats.parameters import require_documented
from service.formats.plan_files import PlanFile
from service.formats.planned_cells import planned_cells
from service.formats.planned_sessions import PlannedSession, StackChoiceError, session_of
from service.formats.yaml_file import FileProblemsError, YamlFile
from service.stats.interval import Interval

DEFAULT = "default"

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE,VALUE",
        help="A server argument (--name) or VARIABLE and its values; the first is the control, "
        "'default' leaves it to the server.",
    ),
]
Undocumented = Annotated[
    bool,
    typer.Option("--undocumented", help="Try a library's variable that no known source documents."),
]


def experiment(
    name: PlanArgument,
    matrix: MatrixOption,
    setting: Settings = None,
    stack: Annotated[
        str | None, typer.Option("--stack", help="The stack; else the plan's baseline or first.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="The metric by which a value is recommended.")
    ] = "output_throughput",
    undocumented: Undocumented = False,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Try several values of one parameter in turn on one host, and say which to take.

    Everything else keeps its key: same condition, protocol and components. A second parameter is
    refused, for nobody could tell which of the two did it. `kunline scaling parameters` lists what
    is documented of communication, overlap and graphs.

    Exit codes: 0 where all values could be judged, else that of the first that could not.

    For example:

      kunline experiment demo --set --chunked-prefill-size=default,256,512

      kunline experiment demo --set OMP_NUM_THREADS=1,2 --metric ttft_p50
    """
    with _wrong_input_told(lang):
        parameter = _asked(setting or (), metric=metric, undocumented=undocumented)
        read, file = read_matrix_and_plan(name, matrix)
        planned = _planned(read, file, _arms(_stack(read, file, stack), parameter))
    if caution := caution_of(parameter.name, lang):
        complain(caution)
    with service(url, token, lang) as client:
        bench = Bench(client, planned.matrix, planned.file, language=lang)
        measured = bench.measured(planned.stacks, planned.cells)
    answer = answered(measured, parameter, planned, metric=metric)
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        show(answer, lang)
    raise typer.Exit(_exit_code(answer))


@contextmanager
def _wrong_input_told(language: Language) -> Iterator[None]:
    """Tell wrong input on stderr, and end with 2."""
    try:
        yield
    except (
        ExperimentError, FileProblemsError, SettingError, StackChoiceError, UnknownFileError,
        UnknownMetricError,
    ) as error:  # fmt: skip
        complain(refused(str(error.args[0]), language))
        raise typer.Exit(USAGE) from error


def _asked(settings: Sequence[str], *, metric: str, undocumented: bool) -> Parameter:
    """Return what is tried. Raises ExperimentError and UnknownMetricError."""
    parameter = one_parameter(settings)
    if not undocumented:
        require_documented(parameter.name)
    metric_named(metric)
    return parameter


def answered(
    measured: Measured, parameter: Parameter, planned: PlannedSession, *, metric: str
) -> ExperimentAnswer:
    """Return what an experiment came to, by the verdicts of its session."""
    cells = measured.verdicts.cells
    arms = dict(zip(parameter.values, planned.stacks, strict=True))
    seen = {
        value: [_seen(cell) for cell in cells if cell.candidate_stack_key == arm.stack.key]
        for value, arm in list(arms.items())[1:]
    }
    return ExperimentAnswer(
        plan=planned.plan.name,
        parameter=parameter.name,
        metric=metric,
        arms=tuple(
            ExperimentArm(value=value, stack_key=arm.stack.key, stack_name=arm.stack.name)
            for value, arm in arms.items()
        ),
        confidence=planned.policy.confidence,
        session_id=measured.session.id,
        cached=measured.cached,
        card_s=planned.expected.card_s,
        recommendation=RecommendationRead.of(recommended(parameter, seen, metric=metric)),
        cells=cells,
    )


def show(answer: ExperimentAnswer, language: Language) -> None:
    """Print the verdicts of an experiment, what it recommends and what it cost."""
    print_verdicts(answer.cells, language)
    typer.echo(page(answer, language))


def page(answer: ExperimentAnswer, language: Language = Language.EN) -> str:
    """Return the recommendation and its cost as a person reads it."""
    words, found = CATALOGUES[language], answer.recommendation
    told = {
        "parameter": answer.parameter,
        "value": found.value,
        "metric": answer.metric,
        "why": spoken(found.reason, language),
    }
    if found.gain is None:
        lines = [words["take"].format_map(told)]
    else:
        bounds = {"low": percent(found.low or 0.0), "high": percent(found.high or 0.0)}
        lines = [words["gain"].format_map({**told, "by": percent(found.gain), **bounds})]
    if found.regressed:
        worse = [_worse(each, words) for each in found.regressed]
        lines.append(words["costs"].format(cells=words["comma"].join(worse)))
    lines.append(
        words["cached" if answer.cached else "spent"].format(
            count=len(answer.arms),
            hours=f"{answer.card_s / 3600:.2f}",
            confidence=f"{answer.confidence:.1%}",
        )
    )
    return "\n".join(map(plain, lines))


def _worse(told: str, words: Mapping[str, str]) -> str:
    """Return a metric that gets worse and its cell, told as domain/experiment.py tells them."""
    metric, _, cell = told.partition(" of ")
    return words["of"].format(metric=metric, cell=cell)


def _stack(matrix: Matrix, file: YamlFile[PlanFile], name: str | None) -> ChosenStack:
    """Return the stack that is tried. Raises UnknownFileError and ExperimentError."""
    own = name or file.shape.baseline or next(iter(file.shape.stacks), None)
    if own is None:
        raise ExperimentError(f"plan {file.shape.name} names no stack: name one with --stack")
    return chosen(matrix, own)


def _arms(stack: ChosenStack, parameter: Parameter) -> tuple[ChosenStack, ...]:
    """Return an arm a value, all with keys of their own. Raises SettingError, ExperimentError."""
    arms = tuple(
        with_setting(stack, name=parameter.name, value=None if value == DEFAULT else value)
        for value in parameter.values
    )
    if len({arm.stack.key for arm in arms}) < len(arms):
        values = ", ".join(parameter.values)
        raise ExperimentError(f"two of the values {values} of {parameter.name} are the same")
    return arms


def _planned(
    matrix: Matrix, file: YamlFile[PlanFile], arms: Sequence[ChosenStack]
) -> PlannedSession:
    """Return the session, at a confidence that leaves all values together the policy's."""
    shape = file.shape
    whole = shape.policy.over(matrix.policy.shape).confidence
    policy = shape.policy.model_copy(update={"confidence": confidence_of_each(whole, len(arms))})
    stricter = replace(file, shape=shape.model_copy(update={"policy": policy, "baseline": None}))
    return session_of(matrix, stricter, arms=arms, cells=planned_cells(matrix, stricter))


def _seen(cell: CellComparison) -> Seen:
    verdicts = cell.comparison.verdicts
    return Seen(
        cell.title,
        {verdict.metric: verdict.outcome for verdict in verdicts},
        {
            verdict.metric: Interval(verdict.low, verdict.worsening, verdict.high)
            for verdict in verdicts
            if verdict.worsening is not None
            and verdict.low is not None
            and verdict.high is not None
        },
    )


def _exit_code(answer: ExperimentAnswer) -> int:
    """Return 0 where every arm was judged: that a value is worse is an answer, and no failure."""
    outcome = foremost(cell.comparison.outcome for cell in answer.cells)
    return DONE if outcome is Outcome.REGRESSED else EXIT_CODE[outcome]
