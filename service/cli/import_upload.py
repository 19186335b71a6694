"""Files sent to the service as imports, batch by batch, with a bar on stderr."""

import io
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from service.cli.import_batches import Batch, Dated, Statement, results_of, text_of
from service.cli.import_tally import Tally
from service.client import Client
from service.domain.reading import Reading, Unreadable
from service.formats.imports import ImportedResult, ResultRead, ResultState
from service.formats.reports import ARTEFACT_BYTES_MAX
from service.formats.tools.files import CannotOpenError, opened
from service.formats.tools.lines import chunks_of, lines_of
from service.formats.tools.registry import TOOLS, readings_in
from service.formats.tools.texts import Lines, Written, written_results
from service.formats.tools.tool import TextTool

JSON_TOOLS = frozenset(tool.name for tool in TOOLS)
_OBJECT = (b"{", b"[")
TOO_LARGE = (
    f"its text is larger than the {ARTEFACT_BYTES_MAX // 2**20} MiB that are kept: have the tool "
    "write its results without the details of each request"
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file. shown: what it is called; path: where it can be read, more than once."""

    shown: str
    path: Path
    dated: Dated
    size: int


@dataclass(slots=True)
class Upload:
    """Results on their way to the service. seen: those that came before in these files."""

    client: Client
    statement: Statement
    tally: Tally
    text_tools: Sequence[TextTool] = ()
    batch: Batch = field(default_factory=Batch)
    seen: set[tuple[str, int]] = field(default_factory=set)

    def send_all(self, sources: Iterable[Source]) -> None:
        """Send every result of the files; each call is stored whole, or not at all."""
        found = list(sources)
        with _bar() as progress:
            task = progress.add_task("importing", total=sum(each.size for each in found) or None)
            for source in found:
                progress.update(task, description=Path(source.shown).name)
                self._send_file(source, _watched(progress, task))
        self._flush()

    def _send_file(
        self, source: Source, watched: Callable[[io.BufferedReader], io.BufferedReader]
    ) -> None:
        launch: str | None = None
        rows = Counter[bytes]()
        for part in _parts(source, watched, self.text_tools):
            match part:
                case Unreadable():
                    self.tally.add_unreadable(part)
                case Written(text=None):
                    self._refuse(part, TOO_LARGE)
                case Written():
                    first = _occurrence(part, rows)
                    launch = self._take(part, source.dated, launch, first) or launch

    def _take(self, written: Written, dated: Dated, launch: str | None, first: int) -> str | None:
        """Put the results of one text into the batch; return the label of the file's launch."""
        text = text_of(written)
        try:
            results = list(results_of(written, text, self.statement, dated, launch, first=first))
        except ValidationError as error:
            self._refuse(written, error.errors(include_url=False)[0]["msg"])
            return launch
        fresh = [result for result in results if self._is_fresh(result)]
        if fresh:
            self.batch.add(fresh, text)
        if self.batch.is_full:
            self._flush()
        return launch or results[0].digest

    def _is_fresh(self, result: ImportedResult) -> bool:
        identity = (result.digest, result.position)
        if identity in self.seen:
            self.tally.add(
                ResultRead(
                    file=result.file,
                    line=result.line,
                    position=result.position,
                    state=ResultState.DUPLICATE,
                    reason="it stands earlier in these files",
                )
            )
            return False
        self.seen.add(identity)
        return True

    def _refuse(self, written: Written, reason: str) -> None:
        for position, reading in enumerate(written.readings):
            self.tally.add(
                ResultRead(
                    file=reading.file,
                    line=reading.line,
                    position=position,
                    state=ResultState.REFUSED,
                    reason=reason,
                )
            )

    def _flush(self) -> None:
        if self.batch.results:
            key = f"import-{secrets.token_hex(16)}"
            order = self.statement.order(self.batch)
            self.tally.take(self.client.import_results(order, idempotency_key=key))
        self.batch = Batch()


def _occurrence(written: Written, rows: Counter[bytes]) -> int:
    """Return the position of a text's first result: above 0 where the text stood there before.

    An object with all its digits is the same result wherever it stands; a row of rounded numbers
    or a printed table may well be another one that reads alike.
    """
    if (written.text or b"").startswith(_OBJECT):
        return 0
    text = sha256(written.text or b"").digest()
    rows[text] += 1
    return (rows[text] - 1) * len(written.readings)


def _parts(
    source: Source,
    watched: Callable[[io.BufferedReader], io.BufferedReader],
    text_tools: Sequence[TextTool],
) -> Iterator[Written | Unreadable]:
    return written_results(
        _readings(source, watched, text_tools),
        lambda: _lines(source.path),
        most_bytes=ARTEFACT_BYTES_MAX,
        begins_late=lambda tool: bool(text_tools) or tool not in JSON_TOOLS,
    )


def _readings(
    source: Source,
    watched: Callable[[io.BufferedReader], io.BufferedReader],
    text_tools: Sequence[TextTool],
) -> Iterator[Reading | Unreadable]:
    try:
        with opened(source.path) as stream:
            yield from readings_in(watched(stream), file=source.shown, text_tools=text_tools)
    except CannotOpenError as error:
        yield Unreadable(source.shown, None, str(error.code), str(error))


def _lines(path: Path) -> Lines:
    with opened(path) as stream:
        yield from lines_of(chunks_of(stream))


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        disable=not Console(stderr=True).is_terminal,
    )


def _watched(progress: Progress, task: TaskID) -> Callable[[io.BufferedReader], io.BufferedReader]:
    def watched(stream: io.BufferedReader) -> io.BufferedReader:
        # The task's total is that of all files, so it is not set anew with each of them.
        total = int(progress.tasks[task].total or 0)
        counted = progress.wrap_file(stream, total, task_id=task)
        return io.BufferedReader(counted)  # type: ignore[arg-type]  # rich's reader is a raw stream

    return watched
