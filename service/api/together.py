"""Things asked for at one time and done in one go: a commit costs as much for many as for one."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

# What waits longer than one go takes its turn in the next.
AT_ONCE_MAX = 32

Question = TypeVar("Question")
Answer = TypeVar("Answer")
# An answer, or the error to raise, and who waits for it.
_Told = tuple["asyncio.Future[Answer]", Answer | Exception]


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Question, Answer]):
    asked: Question
    answer: "asyncio.Future[Answer]"


class Together(Generic[Question, Answer]):
    """Does in one go whatever has come since the last go was begun.

    do: answers each in its place, with what became of it or with the error to raise. name: what
    two have in common that must not be done in one go. for_all: errors of do that would meet each
    alone as well; after any other error each is done alone, so that none costs the others theirs.
    goes: how many may be under way at one time, each in a thread of its own: while one waits for
    the database, another is made ready. One is begun beside others once as many wait as are under
    way, so that goes grow with what there is to do; nobody waits where nothing is under way.
    """

    def __init__(
        self,
        do: Callable[[Sequence[Question]], Sequence[Answer | Exception]],
        *,
        name: Callable[[Question], Hashable],
        for_all: tuple[type[Exception], ...],
        goes: int = 1,
    ) -> None:
        self._do = do
        self._name = name
        self._for_all = for_all
        self._waiting: deque[_Waiting[Question, Answer]] = deque()
        self._goes = goes
        self._at_work = 0
        self._under_way = 0
        self._changing = Lock()
        self._thread = ThreadPoolExecutor(goes, thread_name_prefix="together")

    async def __call__(self, asked: Question) -> Answer:
        """Return the answer once it is done; whatever went wrong is raised."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        with self._changing:
            self._waiting.append(_Waiting(asked, answer))
            due = self._is_due()
            self._at_work += due
        if due:
            self._thread.submit(self._work)
        return await answer

    def close(self) -> None:
        """Finish what waits, then end the threads."""
        self._thread.shutdown()

    def _is_due(self) -> bool:
        """Return whether one more thread is to begin a go; it takes all that waits by then."""
        if self._at_work == 0:
            return True
        return self._at_work < self._goes and 0 < self._under_way <= len(self._waiting)

    def _work(self) -> None:
        done = 0
        while batch := self._next(done):
            _tell(self._answers(batch))
            done = len(batch)

    def _next(self, done: int) -> Sequence[_Waiting[Question, Answer]]:
        """Return what is done in the next go; nothing says that this thread's work is over.

        done: how many its last go did. What is left waits for the end of another thread's go.
        """
        with self._changing:
            self._under_way -= done
            batch = self._taken() if self._under_way <= len(self._waiting) else []
            self._under_way += len(batch)
            self._at_work -= not batch
        return batch

    def _taken(self) -> list[_Waiting[Question, Answer]]:
        batch: list[_Waiting[Question, Answer]] = []
        names: set[Hashable] = set()
        while self._waiting and len(batch) < AT_ONCE_MAX:
            name = self._name(self._waiting[0].asked)
            if name in names:
                break
            names.add(name)
            batch.append(self._waiting.popleft())
        return batch

    def _answers(self, batch: Sequence[_Waiting[Question, Answer]]) -> Sequence[_Told[Answer]]:
        try:
            answers = self._do([waiting.asked for waiting in batch])
            return [
                (waiting.answer, answer) for waiting, answer in zip(batch, answers, strict=True)
            ]
        except Exception as error:  # noqa: BLE001  # whatever it is, who asked is told
            if len(batch) == 1 or isinstance(error, self._for_all):
                return [(waiting.answer, error) for waiting in batch]
        return [told for waiting in batch for told in self._answers([waiting])]


def _tell(answers: Sequence[_Told[Answer]]) -> None:
    """Wake each loop that waits once, whatever number of its answers has come."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Told[Answer]]] = {}
    for future, answer in answers:
        by_loop.setdefault(future.get_loop(), []).append((future, answer))
    for loop, told in by_loop.items():
        # A loop that was closed has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_set, told)


def _set(told: Sequence[_Told[Answer]]) -> None:
    for future, answer in told:
        if future.done():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
