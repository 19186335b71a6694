"""Things asked for at one time and done in one go: a commit costs as much for many as for one."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

# What waits longer than one go takes its turn in the next.
AT_ONCE_MAX = 32
# Who has just been answered asks again at once where there is much to do: waiting so long for them
# after a go makes the next one larger, and delays nobody where there is little to do.
GATHER_S = 0.001

Question = TypeVar("Question")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Question, Answer]):
    asked: Question
    answer: "Future[Answer]"


class Together(Generic[Question, Answer]):
    """Does in one thread, and in one go, whatever has come since the last go was begun.

    do: answers each in its place, with what became of it or with the error to raise. name: what
    two have in common that must not be done in one go. for_all: errors of do that would meet each
    alone as well; after any other error each is done alone, so that none costs the others theirs.
    """

    def __init__(
        self,
        do: Callable[[Sequence[Question]], Sequence[Answer | Exception]],
        *,
        name: Callable[[Question], Hashable],
        for_all: tuple[type[Exception], ...],
    ) -> None:
        self._do = do
        self._name = name
        self._for_all = for_all
        self._ended_at = -GATHER_S
        self._waiting: deque[_Waiting[Question, Answer]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="together")

    async def __call__(self, asked: Question) -> Answer:
        """Return the answer once it is done; whatever went wrong is raised."""
        waiting: _Waiting[Question, Answer] = _Waiting(asked, Future())
        self._waiting.append(waiting)
        # As many goes as questions: one that finds nothing left costs next to nothing.
        self._thread.submit(self._go)
        return await asyncio.wrap_future(waiting.answer)

    def close(self) -> None:
        """Finish what waits, then end the thread."""
        self._thread.shutdown()

    def _go(self) -> None:
        wait_s = self._ended_at + GATHER_S - time.monotonic()
        if self._waiting and wait_s > 0:
            time.sleep(wait_s)
        if batch := self._taken():
            self._done(batch)
            self._ended_at = time.monotonic()

    def _done(self, batch: Sequence[_Waiting[Question, Answer]]) -> None:
        try:
            answers = self._do([waiting.asked for waiting in batch])
        except Exception as error:  # noqa: BLE001  # whatever it is, who asked is told
            if len(batch) == 1 or isinstance(error, self._for_all):
                answers = [error] * len(batch)
            else:
                for waiting in batch:
                    self._done([waiting])
                return
        for waiting, answer in zip(batch, answers, strict=True):
            _tell(waiting.answer, answer)

    def _taken(self) -> Sequence[_Waiting[Question, Answer]]:
        batch: list[_Waiting[Question, Answer]] = []
        names: set[Hashable] = set()
        while self._waiting and len(batch) < AT_ONCE_MAX:
            name = self._name(self._waiting[0].asked)
            if name in names:
                break
            names.add(name)
            batch.append(self._waiting.popleft())
        return batch


def _tell(future: "Future[Answer]", answer: Answer | Exception) -> None:
    if not future.set_running_or_notify_cancel():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
