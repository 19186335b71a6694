"""Brings weights to this host's disk, or looks at them there: `python -m runners.weights`.

stdin: a question; stdout: its answer, one JSON document each. On stderr a bar, at a terminal.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar

from runners.refusal import refused, wrong
from runners.stacks.staging import Progress, StagingError, noted, read_again, staged, unlike
from runners.stacks.weights import WeightsError, tokenizer_digest, weights_digest
from service.domain.key import short
from service.formats.staged_weights import StagedWeights, StagingAnswer, StagingQuestion


def main() -> int:
    """Answer the question on stdin."""
    try:
        question = StagingQuestion.model_validate_json(sys.stdin.buffer.read())
        with _bar() as progress:
            answer = answered(question, progress=progress)
    except ValidationError as error:
        return wrong("this question", error)
    except (StagingError, WeightsError, OSError) as error:
        return refused(error)
    sys.stdout.write(answer.model_dump_json())
    return 0


def answered(question: StagingQuestion, *, progress: Progress) -> StagingAnswer:
    """Stage or look, and return what lies there. Raises StagingError, WeightsError and OSError."""
    folder = Path(question.folder)
    copied, found = 0, tuple[str, ...]()
    if question.source is not None:
        note, copied = staged(Path(question.source), folder, progress=progress)
    else:
        note, found = _looked_at(folder, full=question.full, progress=progress)
    answer = StagingAnswer(
        folder=str(folder),
        files=len(note.files),
        size_bytes=sum(file.size for file in note.files.values()),
        copied_bytes=copied,
        unlike=found,
    )
    if found:
        return answer
    digests = {"weights": weights_digest(folder), "tokenizer": tokenizer_digest(folder)}
    wanted = {"weights": question.weights_digest, "tokenizer": question.tokenizer_digest}
    other = tuple(
        f"{name}: {short(digests[name])} is here, {short(asked)} is what the model file says"
        for name, asked in wanted.items()
        if asked is not None and asked != digests[name]
    )
    return answer.model_copy(
        update={
            "unlike": other,
            "weights_digest": digests["weights"],
            "tokenizer_digest": digests["tokenizer"],
        }
    )


def _looked_at(
    folder: Path, *, full: bool, progress: Progress
) -> tuple[StagedWeights, tuple[str, ...]]:
    note = noted(folder)
    if note is None:
        raise StagingError(f"{folder} was not staged: bring it here with `kunline weights stage`")
    if full:
        return read_again(folder, note, progress=progress)
    return note, unlike(folder, note)


@contextmanager
def _bar() -> Iterator[Progress]:
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)


if __name__ == "__main__":
    sys.exit(main())
