"""`kunline compare`: the one rule on two result files, two stored runs or two stored stacks."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from service.cli.answers.words import Language
from service.cli.assumed import AssumeSame, assumptions_of
from service.cli.comparison_lines import comparison_lines, difference_line
from service.cli.comparison_words import CATALOGUES
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, refused, service
from service.cli.exit_codes import EXIT_CODE, USAGE
from service.cli.language import Lang
from service.cli.lines import unreadable_line
from service.cli.plain import plain
from service.cli.read import read_all
from service.cli.result_paths import has_result_suffix, paths_of
from service.cli.verdict_table import print_verdicts
from service.domain.assumption import NOTHING_ASSUMED, Assumptions, OverruledError
from service.domain.metric import Metric, UnknownMetricError, metric_named
from service.domain.policy import Policy, PolicyError, with_one_tolerance
from service.domain.reading import Reading, Readings
from service.domain.told import Arm, NoReadingsError, compare_readings
from service.formats.comparisons import CellsCompared
from service.formats.readings import UnreadableRead
from service.formats.verdicts import ComparisonRead

_OF_THE_SERVICE = MappingProxyType(
    {
        "--tolerance": "the service holds to its own policy",
        "--metric": "the service holds to its own policy",
        "--assume-same": "what the service stores has its whole condition",
    }
)
KINDS = "a result file or a folder, a run's id, or a stack's key or name"
# What the service stores has ids, keys and names; what looks like a file's name is one.
_STORED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]{3,127}")


class LaunchPer(StrEnum):
    """What counts as one server launch among the results of a side."""

    SIDE = "side"
    FILE = "file"
    LINE = "line"


Tolerance = Annotated[
    float | None,
    typer.Option(help="Accepted worsening of every metric, 0.03 is 3 %; else each has its own."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(help="A metric to judge, such as ttft_p50; may be given again."),
]
Launches = Annotated[
    LaunchPer, typer.Option(help="What is one server launch: repeats in it share its luck.")
]
MinRepeats = Annotated[
    int | None,
    typer.Option(min=1, help="Fewest results of the baseline to judge by; else the policy's."),
]


def compare(
    baseline: Annotated[str, typer.Argument(help=f"The baseline: {KINDS}.")],
    candidate: Annotated[str, typer.Argument(help="The candidate: one of the same kind.")],
    *,
    tolerance: Tolerance = None,
    metric: Metrics = None,
    launch_per: Launches = LaunchPer.SIDE,
    min_repeats: MinRepeats = None,
    assume_same: AssumeSame = None,
    lang: Lang = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Judge a candidate's results against a baseline's, by the same rule as everywhere else.

    Two files, or of what the service stores two runs or two stacks. A file's results are repeats
    of one cell, and tell only a part of their condition: the rest must be assumed, or the files
    are not comparable. Ends with 0 unchanged or improved, 3 regressed, 4 inconclusive or
    insufficient baseline, 5 invalid or missing, 6 not comparable, 2 unreadable.

    For example:

      kunline compare before.jsonl after.jsonl --assume-same all --assume-same requests=200

      kunline compare cpu-sglang-0.5.18 cpu-sglang-0.5.23
    """
    policy, metrics = _asked(tolerance, metric, min_repeats)
    if are_stored(baseline, candidate):
        _require_no_rule_of_files(
            {"--tolerance": tolerance, "--metric": metric, "--assume-same": assume_same}
        )
        with service(url, token, lang) as client:
            stored = client.compare(baseline, candidate, min_repeats=min_repeats)
        raise typer.Exit(_show_stored(stored, lang, as_json=as_json))
    _require_files(baseline, candidate)
    try:
        answer = compare_files(
            baseline,
            candidate,
            policy=policy,
            metrics=metrics,
            launch_per=launch_per,
            assumptions=assumptions_of(assume_same),
        )
    except (NoReadingsError, OverruledError) as error:
        typer.echo(plain(refused(str(error), lang)), err=True)
        raise typer.Exit(USAGE) from error
    show(answer, lang, as_json=as_json)
    raise typer.Exit(EXIT_CODE[answer.outcome])


def compare_files(
    baseline: str | Path,
    candidate: str | Path,
    *,
    policy: Policy | None = None,
    metrics: Sequence[Metric] | None = None,
    launch_per: LaunchPer = LaunchPer.SIDE,
    assumptions: Assumptions = NOTHING_ASSUMED,
) -> ComparisonRead:
    """Return the comparison of two files, folders or patterns of files.

    Parts that cannot be read are said on stderr and left out. Raises NoReadingsError and
    OverruledError.
    """
    return ComparisonRead.of(
        compare_readings(
            _arm(str(baseline), launch_per),
            _arm(str(candidate), launch_per),
            policy=policy or Policy(),
            metrics=metrics,
            assumptions=assumptions,
        )
    )


def are_files(side: str) -> bool:
    """Return whether a side names a file, a folder or a pattern that matches one."""
    try:
        return all(Path(path).exists() for path in paths_of(side))
    except OSError:
        # It is there and may not be looked at, or no file can have this name: its reader says so.
        return True


def are_stored(*sides: str) -> bool:
    """Return whether no side is a file, and each reads like a run's id or a stack's key or name."""
    return all(
        _STORED.fullmatch(side) and not has_result_suffix(side) and not are_files(side)
        for side in sides
    )


def show(answer: ComparisonRead, language: Language = Language.EN, *, as_json: bool) -> None:
    """Print a comparison: one JSON document, or lines for a person."""
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        typer.echo("\n".join(comparison_lines(answer, language)))


def _show_stored(answer: CellsCompared, language: Language, *, as_json: bool) -> int:
    """Print the comparison of two stored runs or stacks and return its exit code."""
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    elif answer.cells:
        print_verdicts(answer.cells, language)
    else:
        typer.echo(CATALOGUES[language][f"outcome {answer.outcome}"])
        for each in answer.differences:
            typer.echo(plain(f"  {difference_line(each, language)}"))
    return EXIT_CODE[answer.outcome]


def _arm(source: str, launch_per: LaunchPer) -> Arm:
    found: Readings = read_all([source])
    for unreadable in found.unreadable:
        typer.echo(unreadable_line(UnreadableRead.of(unreadable)), err=True)
    return _launches(found.readings, launch_per)


def _launches(readings: Sequence[Reading], launch_per: LaunchPer) -> Arm:
    match launch_per:
        case LaunchPer.SIDE:
            return [readings]
        case LaunchPer.FILE:
            return [list(group) for _, group in groupby(readings, key=lambda each: each.file)]
        case LaunchPer.LINE:
            return [[reading] for reading in readings]


def _asked(
    tolerance: float | None, names: list[str] | None, min_repeats: int | None
) -> tuple[Policy, list[Metric] | None]:
    try:
        policy = Policy() if min_repeats is None else Policy(min_repeats=min_repeats)
        if tolerance is not None:
            policy = with_one_tolerance(policy, tolerance)
        return policy, [metric_named(name) for name in names] if names else None
    except (PolicyError, UnknownMetricError) as error:
        raise typer.BadParameter(str(error.args[0])) from error


def _require_no_rule_of_files(options: Mapping[str, object]) -> None:
    for option, given in options.items():
        if given:
            raise typer.BadParameter(f"{option} is for files; {_OF_THE_SERVICE[option]}")


def _require_files(*sides: str) -> None:
    for side in sides:
        if are_files(side):
            continue
        if are_stored(side) and any(map(are_files, sides)):
            raise typer.BadParameter(
                f"no file {side}, and a file is compared with files only; to hold it to what is "
                "stored, `kunline import` it"
            )
        raise typer.BadParameter(f"no file {side}")
