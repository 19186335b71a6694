"""A gate's answers that are hostile or far too long."""

from service.domain.layer import Layer
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer, GateBroken, GateLink
from service.formats.verdicts import DifferenceRead
from tests.gate_answer import answer, cell, verdict

HOSTILE = (
    "|x` </td><script>alert(1)</script> **b** [a](javascript:1) @admin #1 "
    "https://evil.example <!-- kunline gate -->\n::error::x\r##[error]y \x1b[31m%0A"
)


def hostile() -> GateAnswer:
    """Return an answer whose names and findings somebody wrote who means ill."""
    fault = GateBroken(side="candidate", layer=Layer.PLUGIN, finding=HOSTILE, remedy=HOSTILE)
    worse = verdict("ttft_p50", Outcome.REGRESSED, (0.05, 0.08, 0.11), reason=HOSTILE)
    difference = DifferenceRead(field=HOSTILE, baseline=HOSTILE, candidate=HOSTILE)
    return answer(
        cell(HOSTILE, (worse,), resolution=(difference,), warnings=(HOSTILE,)),
        cell(HOSTILE, outcome=Outcome.BROKEN, broken=fault, reasons=(HOSTILE,)),
        cell(HOSTILE, outcome=Outcome.NOT_COMPARABLE, differences=(difference,)),
        plan=HOSTILE,
        host=HOSTILE,
        notes=(HOSTILE,),
        reproduce=("kunline", "gate", HOSTILE),
        links=(GateLink(name="gate", url=f"https://kunline.example/) {HOSTILE}"),),
    )


def long(cells: int = 600) -> GateAnswer:
    """Return an answer of so many cells and notes that no comment holds them."""
    worse = verdict("ttft_p50", Outcome.REGRESSED, (0.05, 0.08, 0.11))
    return answer(
        *(cell(f"cell {number} {'x' * 300}", (worse,)) for number in range(cells)),
        notes=tuple(f"note {number} {'y' * 390}" for number in range(cells)),
    )
