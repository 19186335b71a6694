"""The exit code of an outcome: what a command ends with, and an answer says."""

from types import MappingProxyType

from service.domain.verdict import Outcome

# Python ends with 1 on a crash and typer with 2 on wrong usage: no verdict ever does.
EXIT_CODE = MappingProxyType(
    {
        Outcome.IMPROVED: 0,
        Outcome.UNCHANGED: 0,
        Outcome.REGRESSED: 3,
        Outcome.INCONCLUSIVE: 4,
        Outcome.INSUFFICIENT_BASELINE: 4,
        Outcome.BROKEN: 5,
        Outcome.INVALID: 5,
        Outcome.MISSING: 5,
        Outcome.NOT_COMPARABLE: 6,
    }
)
