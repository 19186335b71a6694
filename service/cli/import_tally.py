"""What became of imported results, counted, and told in lines or as one JSON document."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import typer

from service.cli.exit_codes import DONE, USAGE, VALIDITY_EXIT_CODE
from service.cli.lines import unreadable_line
from service.cli.plain import plain
from service.domain.reading import Unreadable
from service.domain.validity import Validity
from service.formats.imports import ImportRead, ResultRead, ResultState
from service.formats.readings import UnreadableRead
from service.formats.verdicts import DifferenceRead

# More lines than this of one kind are counted and not printed; --json has them all.
LINES_MAX = 20
UNREADABLE = "unreadable"


@dataclass(slots=True)
class Tally:
    """Counts of results by what became of them. unknown: what the statement itself leaves open."""

    dry_run: bool
    unknown: tuple[str, ...] = ()
    results: list[ResultRead] = field(default_factory=list)
    unreadable: list[UnreadableRead] = field(default_factory=list)
    identity: dict[str, str] = field(default_factory=dict)

    def take(self, answer: ImportRead) -> None:
        """Count what the service answered of one batch."""
        self.results += answer.results
        self.identity = {
            name: getattr(answer, name)
            for name in ("condition_key", "protocol_key", "stack_key", "host")
        }

    def add(self, result: ResultRead) -> None:
        """Count a result that was not sent."""
        self.results.append(result)

    def add_unreadable(self, part: Unreadable) -> None:
        """Count a part of a file that gave no result."""
        self.unreadable.append(UnreadableRead.of(part))

    @property
    def counts(self) -> dict[str, int]:
        """How many results there are of each kind, and how many parts were unreadable."""
        found = Counter(result.state for result in self.results)
        return {state.value: found[state] for state in ResultState} | {
            UNREADABLE: len(self.unreadable)
        }

    @property
    def exit_code(self) -> int:
        """The exit code: 5 where a result is invalid, else 2 where one was not taken, else 0."""
        counts = self.counts
        if counts[ResultState.INVALID]:
            return VALIDITY_EXIT_CODE[Validity.INVALID]
        return USAGE if counts[ResultState.REFUSED] or counts[UNREADABLE] else DONE

    def show(self, *, as_json: bool) -> None:
        """Print everything: the counts on stdout, what was not taken on stderr."""
        if as_json:
            typer.echo(json.dumps(self._document(), indent=2, ensure_ascii=False))
            return
        _print(map(_line, self._of(ResultState.INVALID)))
        _print(map(_line, self._of(ResultState.REFUSED)))
        _print(unreadable_line(part) for part in self.unreadable)
        withdrawn = sum(result.withdrawn for result in self._of(ResultState.DUPLICATE))
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        typer.echo(f"would be: {counts}; nothing was stored" if self.dry_run else counts)
        if withdrawn:
            typer.echo(f"note: {withdrawn} of the duplicates are withdrawn, and stay so")
        for what in self.unknown:
            typer.echo(f"note: the condition leaves open {what}")

    def _of(self, state: ResultState) -> list[ResultRead]:
        return [result for result in self.results if result.state is state]

    def _document(self) -> dict[str, object]:
        return {
            "dry_run": self.dry_run,
            **self.counts,
            **self.identity,
            "left_open": self.unknown,
            "results": [result.model_dump(mode="json") for result in self.results],
            "unreadable_parts": [part.model_dump(mode="json") for part in self.unreadable],
        }


def _line(result: ResultRead) -> str:
    where = plain(f"{result.file}:{result.line}: {result.state}: {result.reason}")
    held = f" (run {result.run_id})" if result.run_id else ""
    fields = "".join(f"\n    {plain(_words(each))}" for each in result.differences)
    return f"{where}{held}{fields}"


def _words(each: DifferenceRead) -> str:
    if each.field.startswith("stored."):
        return f"{each.field}: stated {each.candidate}, stored {each.baseline}"
    return f"{each.field}: stated {each.baseline}, the file tells {each.candidate}"


def _print(lines: Iterable[str]) -> None:
    left = 0
    for number, line in enumerate(lines):
        if number < LINES_MAX:
            typer.echo(line, err=True)
        else:
            left += 1
    if left:
        typer.echo(f"… and {left} more of these; --json has them all", err=True)
