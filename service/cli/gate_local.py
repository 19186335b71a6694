"""A gate on this machine: a service and a runner of its own, and no work left behind it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from service.cli import gate_calls
from service.cli.gate_calls import Patience, Watch
from service.cli.gate_question import Question, require_answerable, upload_of
from service.cli.plain import complain
from service.cli.tree import Embedded, embedded_service, start_runner
from service.cli.up import failing_clearly, stopped_code
from service.client import Client, RefusedError, ServiceAwayError, connected
from service.formats.ci_gates import GateRead
from service.formats.gate_answers import GateAnswer

LOCK = "gate.lock"
# The service is a child of this command: what it does not answer within that is not to come.
PATIENCE_S = 60.0
# As many of the newest gates are looked through for one that was left behind.
LEFT_MAX = 200


@dataclass(frozen=True, slots=True)
class Ended:
    """What a gate answers, and the exit code where a person stopped it; else None."""

    answer: GateAnswer
    stopped: int | None = None


@contextmanager
def measured_here(question: Question, data_dir: Path) -> Iterator[Ended]:
    """Yield the answer of a gate that ran on this machine, in a service of its own.

    The runner is started last: by then nothing of an earlier gate is left for it to do.
    """
    require_answerable(question)
    with (
        failing_clearly(),
        _told_where_stopped(),
        _sole_use(data_dir) as alone,
        embedded_service(data_dir, port=0, runner=False, say=complain) as embedded,
        connected(embedded.url) as client,
    ):
        patience = Patience(PATIENCE_S, tend=embedded.tree.tend)
        upload = upload_of(client, question, patience, mode="local")
        found = gate_calls.submit(client, upload, patience, key=question.key)
        complain(f"gate {found.id} of {found.answer.candidate.stack_name}")
        if alone:
            _cancel_left_behind(client, found)
        yield _ended(embedded, client, question, found, patience)


def _ended(
    embedded: Embedded, client: Client, question: Question, found: GateRead, patience: Patience
) -> Ended:
    """Return what a gate answers once it is over, or was stopped; no end leaves it in the queue."""
    if found.answer.state != "running":
        return Ended(found.answer)
    try:
        start_runner(embedded, client, complain)
        watch = Watch(client, found, patience, question.language)
        return Ended(gate_calls.finished(watch).answer)
    except KeyboardInterrupt as stop:
        return Ended(_let_go(client, question, found), stopped_code(stop))
    except BaseException:
        _let_go(client, question, found)
        raise


def _let_go(client: Client, question: Question, found: GateRead) -> GateAnswer:
    """Cancel a gate that nobody waits for, unless its key goes on with it, and return its answer.

    Where the service does not answer any more the next gate here cancels it.
    """
    try:
        if question.key is not None:
            complain(f"stopped: the same --key goes on with gate {found.id}, any other cancels it")
            return gate_calls.read(client, found.id).answer
        answer = gate_calls.cancel(client, found.id).answer
    except (RefusedError, ServiceAwayError) as error:
        complain(f"gate {found.id} could not be cancelled ({error}): the next one here cancels it")
        return found.answer
    complain(f"stopped: gate {found.id} is cancelled, nothing of it is measured any more")
    return answer


def _cancel_left_behind(client: Client, ours: GateRead) -> None:
    """Cancel the local gates that nobody waits for: whoever asked for them was killed."""
    for gate in gate_calls.newest(client, limit=LEFT_MAX):
        if gate.mode == "local" and gate.finished_at is None and gate.id != ours.id:
            gate_calls.cancel(client, gate.id)
            complain(f"gate {gate.id} of {gate.candidate} was left behind here: it is cancelled")


@contextmanager
def _told_where_stopped() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as stop:
        complain("stopped; nothing of this gate is measured any more")
        raise typer.Exit(stopped_code(stop)) from None


@contextmanager
def _sole_use(data_dir: Path) -> Iterator[bool]:
    """Hold a folder for this gate, and yield whether it is held: else another gate is at work."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with (data_dir / LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            complain(f"another gate is at work in {data_dir}: --data-dir names a folder of its own")
            yield False
            return
        yield True
