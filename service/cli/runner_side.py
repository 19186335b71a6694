"""The runner's side, asked: a process of its own, which reads a question and writes its answer."""

import subprocess
from collections.abc import Callable
from typing import TypeVar

from pydantic import ValidationError

from service.cli.exit_codes import DONE, OPERATIONAL, USAGE
from service.cli.processes import module

Answer = TypeVar("Answer")


class NoAnswerError(RuntimeError):
    """The runner's side gave no answer; the message says why.

    exit_code: what the command ends with, 2 where the question or a setting is wrong.
    """

    def __init__(self, why: str, *, exit_code: int = OPERATIONAL) -> None:
        super().__init__(why)
        self.exit_code = exit_code


def answer_of(
    name: str,
    *words: str,
    question: bytes,
    read: Callable[[bytes], Answer],
    limit_s: float,
    without: str,
) -> Answer:
    """Return what a module of the runner's side answers to a question on its stdin.

    One that refuses writes the reason where its answer would be, and ends with an exit code of its
    own. Its stderr is the person's, who sees there how far it is. without: what there is not where
    no answer comes. Raises NoAnswerError.
    """
    try:
        done = subprocess.run(
            module(name, *words),
            input=question,
            stdout=subprocess.PIPE,
            check=False,
            timeout=limit_s,
        )
        if done.returncode == DONE:
            return read(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise NoAnswerError(f"{without}: no answer within {limit_s:.0f} s") from error
    except (OSError, ValidationError) as error:
        raise NoAnswerError(f"{without}: {error}") from error
    code = USAGE if done.returncode == USAGE else OPERATIONAL
    raise NoAnswerError(f"{without}: {_why(name, done)}", exit_code=code)


def _why(name: str, done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode < 0:
        return f"signal {-done.returncode} ended {name}"
    said = done.stdout.decode(errors="replace").strip()
    return said or f"{name} ended with {done.returncode}; stderr says more"
