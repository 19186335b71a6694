"""The gates themselves: each looks at the facts of one repeat and says what it finds."""

from collections.abc import Callable

from service.domain.host_gates import HOST_GATES
from service.domain.result_gates import RESULT_GATES
from service.domain.server_gates import SERVER_GATES
from service.domain.validity import Finding, RunFacts

GATES: tuple[Callable[[RunFacts], Finding | None], ...] = (
    *RESULT_GATES,
    *SERVER_GATES,
    *HOST_GATES,
)


def check(facts: RunFacts) -> tuple[Finding, ...]:
    """Return what the gates find in one repeat, in the order of the list of gates.

    Whatever a gate would need and nobody told is found as unknown; a passed gate finds nothing.
    """
    return tuple(finding for gate in GATES if (finding := gate(facts)) is not None)
