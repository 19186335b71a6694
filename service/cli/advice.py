"""`kunline compat check` and `verify`: may this move there, and is what is here known to work."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from service.cli.compat_calls import snapshot
from service.cli.compat_table import age
from service.cli.compat_words import WORDS, spoken
from service.cli.connection import DEFAULT_URL, AsJson, Token, Url, service
from service.cli.dossier_words import Language
from service.cli.exit_codes import ADVICE_EXIT_CODE, USAGE
from service.cli.lines import percent
from service.cli.plain import complain, plain
from service.cli.plan import overrides
from service.cli.runner_side import NoAnswerError
from service.cli.stack_host import ImportOption, PythonOption, asked
from service.domain.advice import Answer
from service.domain.compat import CompatState
from service.domain.compat_match import Match, nearest
from service.domain.key import short
from service.formats.advice import AdviceQuestion, AdviceRead, CellAdvice, ConstraintFinding
from service.formats.chosen_stacks import OverrideError
from service.formats.compat import CompatEntry
from service.formats.compat_snapshots import CompatSnapshot, SnapshotError, read_snapshot
from service.formats.matrix_files import read_stack
from service.formats.observed_stacks import ObservedQuestion
from service.formats.yaml_file import FileProblemsError

ENTRIES = 20_000

LanguageOption = Annotated[Language, typer.Option("--lang", help="The language of the answer.")]

# What a state of the table answers to whoever is about to deploy.
ANSWERS = {
    CompatState.BROKEN: Answer.NO,
    CompatState.REGRESSED: Answer.COSTS,
    CompatState.WORKS: Answer.YES,
    CompatState.UNTESTED: Answer.UNKNOWN,
}


class InstalledError(ValueError):
    """A file does not tell what is installed."""


def check(
    from_stack: Annotated[
        str, typer.Option("--from", help="The stack in use: its name, or how its key begins.")
    ],
    to_stack: Annotated[str | None, typer.Option("--to", help="The stack to move to.")] = None,
    versions: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="COMPONENT=VERSION", help="Only this is to change; again."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Only cells of this model.")] = None,
    cards: Annotated[int | None, typer.Option(min=1, help="Only cells on so many cards.")] = None,
    language: LanguageOption = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Ask whether one may move from a stack to another: answered from what was measured.

    Exit codes: 0 yes, 3 yes with costs, 4 unknown, 5 no.

    For example:

      kunline compat check --from cpu-sglang-0.5.18 --to cpu-sglang-0.5.23

      kunline compat check --from p800-sglang-kunlun-recipe --set xre=5.37.0.0 --cards 8
    """
    try:
        asked = AdviceQuestion(
            from_stack=from_stack,
            to_stack=to_stack,
            versions=dict(overrides(versions or ())),
            model=model,
            cards=cards,
        )
    except (ValidationError, OverrideError) as error:
        raise typer.BadParameter(_first(error)) from error
    with service(url, token) as client:
        answer = client.ask(AdviceRead, "compat/check", body=asked)
    typer.echo(answer.model_dump_json(indent=2) if as_json else page(answer, language))
    raise typer.Exit(ADVICE_EXIT_CODE[answer.answer])


def page(answer: AdviceRead, language: Language = Language.EN) -> str:
    """Return the answer to an upgrade as a person reads it."""
    words = WORDS[language]
    named = (answer.baseline, answer.candidate)
    lines = [
        spoken(answer.said, language),
        " → ".join(f"{side.name} ({short(side.key)})" for side in named),
        *(
            f"  {each.name}: {each.baseline} → {each.candidate} ({words[f'scope {each.scope}']})"
            for each in answer.changes
            if not each.recorded
        ),
    ]
    if answer.scope is not None:
        lines.append(words["restart"].format(scope=words[f"scope {answer.scope}"]))
    if answer.moves_with:
        lines.append(words["moves with"].format(names=", ".join(answer.moves_with)))
    lines += [_declared_line(each, language) for each in answer.constraints]
    for cell in answer.cells:
        lines += _cell_lines(cell, words)
    if (near := answer.nearest) is not None:
        fields = near.differences
        apart = ", ".join(f"{each.field} {each.baseline} ≠ {each.candidate}" for each in fields)
        state = words[f"state {near.state}"]
        lines.append(words["nearest"].format(name=near.stack.name, state=state, apart=apart))
    if answer.command is not None:
        lines.append(words["measure"].format(command=answer.command))
    return "\n".join(plain(line) for line in lines)


def _declared_line(found: ConstraintFinding, language: Language) -> str:
    words = WORDS[language]
    return words["declared"].format(
        words=spoken(found.said, language),
        held=words[f"held {found.held}"],
        odd=words["contradicted"] if found.contradicted else "",
        source=found.source,
    )


def verify(
    installed: Annotated[
        Path | None,
        typer.Argument(
            help="What is installed: a stack file as `kunline stack capture` writes it, or a JSON "
            "map of components to versions. Left out: this host is asked, with --python."
        ),
    ] = None,
    python: PythonOption = None,
    chip: Annotated[str, typer.Option(help="The chip of this host.")] = "kunlun",
    imports: ImportOption = None,
    snapshot_file: Annotated[
        Path | None, typer.Option("--snapshot", help="The table as a file, instead of the service.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model to be deployed.")] = None,
    language: LanguageOption = Language.EN,
    url: Url = DEFAULT_URL,
    token: Token = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Hold what is installed on this host to the table, before a deployment.

    Exit codes: 0 works, 3 works with a regression, 4 unknown or untested, 5 broken.

    For example:

      kunline compat verify --python /opt/conda/bin/python --import torch_xmlir

      kunline compat verify here.yaml --snapshot compat.json
    """
    now = datetime.now(UTC)
    with _told_wrong_input():
        seen = versions_in(installed) if installed else versions_here(python, chip, imports or ())
        table = read_snapshot(snapshot_file) if snapshot_file else _taken(url, token, now)
    found = verified(seen, table, model=model)
    typer.echo(
        json.dumps(document(found, table), indent=2, ensure_ascii=False)
        if as_json
        else "\n".join(verified_lines(found, table, WORDS[language], now=now))
    )
    raise typer.Exit(ADVICE_EXIT_CODE[found[0]])


@contextmanager
def _told_wrong_input() -> Iterator[None]:
    try:
        yield
    except NoAnswerError as error:
        complain(str(error))
        raise typer.Exit(error.exit_code) from error
    except (InstalledError, SnapshotError) as error:
        complain(str(error))
        raise typer.Exit(USAGE) from error


def _taken(url: str, token: str | None, now: datetime) -> CompatSnapshot:
    with service(url, token) as client:
        return snapshot(client, now=now, limit=ENTRIES)


Verified = tuple[Answer, CompatEntry | None, Match | None]


def verified(installed: Mapping[str, str], table: CompatSnapshot, *, model: str | None) -> Verified:
    """Return what the table says of what is installed, the line it says it in, and the match."""
    lines = [entry for entry in table.entries if model is None or entry.model in {model, None}]
    match = nearest(installed, [entry.components for entry in lines])
    if match is None:
        return Answer.UNKNOWN, None, None
    entry = lines[match.place]
    if not match.is_it:
        return Answer.UNKNOWN, entry, match
    same = [each for each in lines if each.stack_key == entry.stack_key]
    worst = min(same, key=lambda each: list(CompatState).index(each.state))
    return ANSWERS[worst.state], worst, match


def verified_lines(
    found: Verified, table: CompatSnapshot, words: Mapping[str, str], *, now: datetime
) -> Sequence[str]:
    """Return what the table says of this host as a person reads it."""
    answer, entry, match = words[f"answer {found[0]}"], found[1], found[2]
    at, old = f"{table.taken_at:%Y-%m-%d %H:%M}", age(table.taken_at, words, now=now)
    taken = words["taken"].format(at=at, age=old)
    if entry is None or match is None:
        return [words["no stack"].format(answer=answer), taken]
    name = plain(f"{entry.stack_name} ({short(entry.stack_key)})")
    if not match.is_it:
        return [
            words["none of them"].format(answer=answer, name=name),
            *(plain(f"  {each}") for each in match.differences),
            taken,
        ]
    unseen = words["unseen"].format(names=plain(", ".join(match.unseen))) if match.unseen else ""
    of = words["of"].format(model=entry.model, card=entry.card_model) if entry.model else ""
    this = words["this is"].format(
        answer=answer,
        name=name,
        state=words[f"state {entry.state}"],
        of=plain(of),
        age=age(entry.measured_at, words, now=now),
    )
    return [this, *([unseen] if unseen else []), taken]


def document(found: Verified, table: CompatSnapshot) -> Mapping[str, object]:
    """Return what the table says of this host as a document."""
    answer, entry, match = found
    return {
        "answer": answer.value,
        "taken_at": table.taken_at.isoformat(),
        "matched": match is not None and match.is_it,
        "entry": entry.model_dump(mode="json") if entry else None,
        "differences": [
            {"field": each.field, "baseline": each.baseline, "candidate": each.candidate}
            for each in (match.differences if match else ())
        ],
        "unseen": list(match.unseen if match else ()),
    }


def versions_here(python: str | None, chip: str, imports: Sequence[str]) -> Mapping[str, str]:
    """Return what this host and a Python on it say is installed.

    Raises InstalledError where no Python is named, and NoAnswerError.
    """
    if python is None:
        raise InstalledError("name the Python that serves with --python, or a file")
    told = asked(ObservedQuestion(chip=chip, python=python, imports=tuple(imports)))
    return {part.name: part.version for part in told.components}


def versions_in(path: Path) -> Mapping[str, str]:
    """Return what a file says is installed, by component. Raises InstalledError."""
    try:
        if path.suffix == ".yaml":
            file, lock = read_stack(path)
            return file.shape.stack(lock).versions
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileProblemsError as error:
        raise InstalledError(str(error)) from error
    except (OSError, ValueError) as error:
        raise InstalledError(f"{path} does not tell what is installed: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise InstalledError(f"{path} is no map of components to versions")
    return found


def _first(error: ValidationError | OverrideError) -> str:
    if isinstance(error, ValidationError):
        return str(error.errors(include_url=False)[0]["msg"])
    return str(error)


def _cell_lines(cell: CellAdvice, words: Mapping[str, str]) -> Sequence[str]:
    told = f": {cell.layer}: {cell.finding}" if cell.layer else ""
    lines = [f"{cell.title}: {words[f'standing {cell.standing}']}{told}"]
    lines += [
        "  "
        + words["verdict"].format(
            metric=each.metric,
            outcome=words[f"outcome {each.outcome}"],
            by=percent(each.worsening),
            low=percent(each.low),
            high=percent(each.high),
        )
        for each in cell.verdicts
        if each.worsening is not None and each.low is not None and each.high is not None
    ]
    if cell.kv_before and cell.kv_after and cell.kv_before != cell.kv_after:
        lines.append("  " + words["tokens"].format(before=cell.kv_before, after=cell.kv_after))
    return [*lines, *(f"  {each}" for each in _moved_lines(cell, words))]


def _moved_lines(cell: CellAdvice, words: Mapping[str, str]) -> Iterator[str]:
    """Say where answers moved by more than launches of one stack differ by."""
    if cell.distance is not None and cell.distance > (cell.distance_tolerance or 0):
        yield words["answers moved"].format(distance=f"{cell.distance:.3g}")
    if cell.loaded_distance is not None and cell.loaded_distance > (cell.loaded_tolerance or 0):
        distance = f"{cell.loaded_distance:.3g}"
        load = cell.loaded_concurrency
        yield words["answers moved under load"].format(distance=distance, load=load)
