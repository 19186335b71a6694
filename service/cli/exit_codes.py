"""The one table that turns what was concluded into an exit code."""

from collections.abc import Iterable
from types import MappingProxyType

from service.domain.advice import Answer
from service.domain.exit_code import EXIT_CODE
from service.domain.validity import Validity
from service.domain.verdict import Outcome, foremost

__all__ = [
    "ADVICE_EXIT_CODE",
    "DONE",
    "EXIT_CODE",
    "INTERRUPTED",
    "OPERATIONAL",
    "TERMINATED",
    "USAGE",
    "VALIDITY_EXIT_CODE",
    "exit_code_of_cells",
]

DONE = 0
# Python ends with 1 on a crash and typer with 2 on wrong usage: no verdict ever does.
OPERATIONAL = 1
USAGE = 2
# What a shell makes of a Ctrl-C, and of SIGTERM.
INTERRUPTED = 130
TERMINATED = 143

VALIDITY_EXIT_CODE = MappingProxyType(
    {Validity.VALID: DONE, Validity.INCOMPLETE: DONE, Validity.INVALID: 5}
)


ADVICE_EXIT_CODE = MappingProxyType(
    {Answer.YES: DONE, Answer.COSTS: 3, Answer.UNKNOWN: 4, Answer.NO: 5}
)


def exit_code_of_cells(outcomes: Iterable[Outcome]) -> int:
    """Return the exit code of many cells: the first that occurs of 3, 5, 6, 4 and 0.

    Of no cell at all it is that of something missing. One comparison needs no other order: where
    its sides are unlike, not comparable is the only word it has.
    """
    return EXIT_CODE[foremost(outcomes)]
