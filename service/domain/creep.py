"""Creep: small steps, each within the tolerance, whose sum is beyond it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.incident import Triage
from service.domain.verdict import Outcome, Verdict

# What a stack was said to be in a cell, and was let pass with.
LET_PASS = frozenset({Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.INCONCLUSIVE})
# A person's answer that says of a stack that it is none the worse, or may be.
TAKEN = frozenset({Triage.ACCEPT, Triage.NOISE})


@dataclass(frozen=True, slots=True)
class Creep:
    """A metric that got worse than the tolerance since the baseline, and by no step at once.

    worsening, low, high: of the candidate against the baseline. step: of the candidate against the
    last accepted stack. Ratios, positive is worse.
    """

    metric: str
    worsening: float
    low: float
    high: float
    step: float
    tolerance: float


def is_accepted(outcome: Outcome, triage: Triage | None) -> bool:
    """Return whether a stack was accepted in a cell, as the rule and people say.

    outcome: of the cell against the baseline. triage: of the incident that the stack brought to
    the cell; None where it brought none. What people said of it goes before what the rule says.
    """
    if triage is not None:
        return triage in TAKEN
    return outcome in LET_PASS


def creep_of(whole: Sequence[Verdict], step: Sequence[Verdict]) -> tuple[Creep, ...]:
    """Return the metrics that crept, in the order of the verdicts.

                 baseline ──── accepted ── candidate
      whole      ├──────────────────────────▶ regressed: beyond the tolerance
      step                        ├─────────▶ within it, and so not regressed

    whole, step: the candidate's verdicts against the baseline, and against the last stack that was
    accepted, which was within the tolerance itself. A step that nobody could judge tells nothing.
    """
    steps: Mapping[str, Verdict] = {verdict.metric: verdict for verdict in step}
    found = []
    for verdict in whole:
        last = steps.get(verdict.metric)
        if verdict.outcome is not Outcome.REGRESSED or verdict.worsening is None or last is None:
            continue
        if last.worsening is not None and last.worsening.center < verdict.tolerance:
            found.append(
                Creep(
                    metric=verdict.metric,
                    worsening=verdict.worsening.center,
                    low=verdict.worsening.low,
                    high=verdict.worsening.high,
                    step=last.worsening.center,
                    tolerance=verdict.tolerance,
                )
            )
    return tuple(found)
