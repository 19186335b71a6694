"""Together: what is asked for at one time is done in one go, and each is told its own answer."""

import asyncio
import threading
from collections.abc import Iterator, Sequence

import pytest

from service.api.together import AT_ONCE_MAX, Together


class AwayError(Exception):
    """What meets everybody."""


class Doing:
    """Answers each number with its tenfold; holds the first go until it is let go."""

    def __init__(self) -> None:
        self.goes: list[list[int]] = []
        self.begun = threading.Event()
        self.let_go = threading.Event()
        self.odd_fails = False
        self.away = False

    def __call__(self, asked: Sequence[int]) -> Sequence[int | Exception]:
        self.goes.append(list(asked))
        self.begun.set()
        if not self.let_go.wait(10):
            raise TimeoutError("never let go")
        if self.away:
            raise AwayError
        if self.odd_fails and any(number % 2 for number in asked):
            raise ArithmeticError(f"odd among {list(asked)}")
        return [ValueError("zero") if number == 0 else number * 10 for number in asked]


@pytest.fixture
def doing() -> Doing:
    return Doing()


@pytest.fixture
def together(doing: Doing) -> Iterator[Together[int, int]]:
    found: Together[int, int] = Together(doing, name=lambda number: number, for_all=(AwayError,))
    yield found
    doing.let_go.set()
    found.close()


def ask(
    together: Together[int, int], doing: Doing, numbers: Sequence[int]
) -> Sequence[int | BaseException]:
    """Ask for the first number, and for the others while its go is held."""

    async def asked() -> Sequence[int | BaseException]:
        waiting = [asyncio.ensure_future(together(numbers[0]))]
        assert await asyncio.to_thread(doing.begun.wait, 10)
        waiting += [asyncio.ensure_future(together(number)) for number in numbers[1:]]
        await asyncio.sleep(0)
        doing.let_go.set()
        return await asyncio.gather(*waiting, return_exceptions=True)

    return asyncio.run(asyncio.wait_for(asked(), 20))


def test_what_comes_while_one_go_is_under_way_is_done_in_the_next(
    together: Together[int, int], doing: Doing
) -> None:
    answers = ask(together, doing, [1, 2, 3, 4])

    assert answers == [10, 20, 30, 40]
    assert doing.goes == [[1], [2, 3, 4]]


def test_an_answer_that_is_an_error_is_raised_for_who_asked_alone(
    together: Together[int, int], doing: Doing
) -> None:
    answers = ask(together, doing, [1, 0, 2])

    assert answers[::2] == [10, 20]
    assert isinstance(answers[1], ValueError)


def test_a_go_that_fails_is_repeated_for_each_alone(
    together: Together[int, int], doing: Doing
) -> None:
    doing.odd_fails = True

    answers = ask(together, doing, [2, 4, 5, 6])

    assert (answers[0], answers[1], answers[3]) == (20, 40, 60)
    assert isinstance(answers[2], ArithmeticError)
    assert doing.goes == [[2], [4, 5, 6], [4], [5], [6]]


def test_what_meets_everybody_is_not_tried_for_each_alone(
    together: Together[int, int], doing: Doing
) -> None:
    doing.away = True

    answers = ask(together, doing, [1, 2, 3])

    assert all(isinstance(answer, AwayError) for answer in answers)
    assert doing.goes == [[1], [2, 3]]


def test_two_of_one_name_are_never_in_one_go(together: Together[int, int], doing: Doing) -> None:
    answers = ask(together, doing, [1, 2, 3, 2])

    assert answers == [10, 20, 30, 20]
    assert doing.goes == [[1], [2, 3], [2]]


def test_no_go_is_larger_than_the_bound(together: Together[int, int], doing: Doing) -> None:
    numbers = list(range(1, AT_ONCE_MAX + 10))

    answers = ask(together, doing, numbers)

    assert answers == [number * 10 for number in numbers]
    assert max(map(len, doing.goes)) == AT_ONCE_MAX


def test_who_gave_up_waiting_holds_nobody_up(together: Together[int, int], doing: Doing) -> None:
    async def asked() -> int:
        first = asyncio.ensure_future(together(1))
        assert await asyncio.to_thread(doing.begun.wait, 10)
        given_up, second = (asyncio.ensure_future(together(number)) for number in (2, 3))
        await asyncio.sleep(0)
        given_up.cancel()
        doing.let_go.set()
        return await first + await second

    assert asyncio.run(asyncio.wait_for(asked(), 20)) == 40


def test_no_more_goes_are_under_way_at_one_time_than_asked_for(doing: Doing) -> None:
    at_work = threading.Semaphore(0)

    def counted(asked: Sequence[int]) -> Sequence[int | Exception]:
        at_work.release()
        return doing(asked)

    together: Together[int, int] = Together(
        counted, name=lambda number: number, for_all=(AwayError,), goes=2
    )

    async def asked() -> Sequence[int]:
        waiting = []
        for number in (1, 2):
            waiting.append(asyncio.ensure_future(together(number)))
            assert await asyncio.to_thread(at_work.acquire, timeout=10)
        waiting += [asyncio.ensure_future(together(number)) for number in (3, 4)]
        await asyncio.sleep(0)
        assert doing.goes == [[1], [2]]
        doing.let_go.set()
        return await asyncio.gather(*waiting)

    answers = asyncio.run(asyncio.wait_for(asked(), 20))
    together.close()

    assert answers == [10, 20, 30, 40]
    assert {number for go in doing.goes for number in go} == {1, 2, 3, 4}


def test_another_go_is_begun_once_as_many_wait_as_are_under_way() -> None:
    goes: list[list[int]] = []
    begun = threading.Semaphore(0)
    gates = {number: threading.Event() for number in (1, 2, 3, 5)}

    def held(asked: Sequence[int]) -> Sequence[int]:
        goes.append(list(asked))
        begun.release()
        assert gates[asked[0]].wait(10)
        return list(asked)

    together: Together[int, int] = Together(held, name=int, for_all=(AwayError,), goes=2)

    async def asked() -> None:
        waiting: list[asyncio.Future[int]] = []

        async def ask(*numbers: int) -> None:
            waiting.extend(asyncio.ensure_future(together(number)) for number in numbers)
            await asyncio.sleep(0)

        async def next_go() -> None:
            assert await asyncio.to_thread(begun.acquire, timeout=10)

        await ask(1)
        await next_go()
        await ask(2)
        await next_go()
        await ask(3, 4)
        gates[1].set()
        await next_go()
        gates[2].set()
        await waiting[1]
        await ask(5, 6)
        await next_go()
        for gate in gates.values():
            gate.set()
        await asyncio.gather(*waiting)

    asyncio.run(asyncio.wait_for(asked(), 20))
    together.close()

    assert goes == [[1], [2], [3, 4], [5, 6]]
