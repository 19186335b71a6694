"""An upgrade as a procedure: measure, change, measure, and roll back if that is what is asked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from service.domain.stack import SwapScope


class Way(StrEnum):
    """How two stacks are measured against each other.

    INTERLEAVED: in turn within one session on one host, which is cheaper and sees more.
    CROSSOVER: before and after a change that needs a reboot, beside a host that is not changed.
    """

    INTERLEAVED = "interleaved"
    CROSSOVER = "crossover"


class Phase(StrEnum):
    """When a qualification measures: both stacks in turn, or both hosts around a change."""

    TOGETHER = "together"
    BEFORE = "before"
    AFTER = "after"
    RESTORED = "restored"


class Step(StrEnum):
    """What is to be done next; members stand in the order of the procedure.

    CHANGE and ROLL_BACK are a person's; the others are measured, or decided from what was.
    MEASURE is the one step before the decision where both stacks are measured in turn.
    """

    MEASURE = "measure"
    MEASURE_BEFORE = "measure before"
    CHANGE = "change"
    MEASURE_AFTER = "measure after"
    DECIDE = "decide"
    ROLL_BACK = "roll back"
    MEASURE_RESTORED = "measure again"
    DONE = "done"


class Decision(StrEnum):
    """What a person does with the answer."""

    KEEP = "keep"
    ROLL_BACK = "roll back"


class Role(StrEnum):
    """The host that is changed, and the one that is not."""

    CANARY = "canary"
    CONTROL = "control"


class WrongStepError(ValueError):
    """Something was said of a qualification that is not its next step."""

    def __init__(self, wanted: Step, found: Step) -> None:
        super().__init__(f"the next step is to {found}, and not to {wanted}")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a qualification is. measured: phases of which every session is finished."""

    measured: Collection[Phase]
    changed: bool
    decision: Decision | None
    rolled_back: bool
    way: Way = Way.CROSSOVER


# What a person ticks before a change counts as made; the words are in the catalogue.
CHECKLIST: Mapping[SwapScope, tuple[str, ...]] = {
    SwapScope.HOST: ("drain", "note_versions", "install", "reboot", "preflight", "resume"),
    SwapScope.CONTAINER: ("drain", "note_versions", "pull_image", "preflight", "resume"),
    SwapScope.PROCESS: ("note_versions", "install", "preflight"),
}


def way_of(scope: SwapScope | None) -> Way:
    """Return how stacks are measured that differ in components of a scope and below it."""
    return Way.CROSSOVER if scope is SwapScope.HOST else Way.INTERLEAVED


def next_step(progress: Progress) -> Step:
    """Return what is to be done next."""
    if progress.way is Way.INTERLEAVED:
        return _interleaving(progress)
    if Phase.BEFORE not in progress.measured:
        return Step.MEASURE_BEFORE
    if not progress.changed:
        return Step.CHANGE
    if Phase.AFTER not in progress.measured:
        return Step.MEASURE_AFTER
    if progress.decision is None:
        return Step.DECIDE
    return Step.DONE if progress.decision is Decision.KEEP else _restoring(progress)


def _interleaving(progress: Progress) -> Step:
    """Return the next step where nothing is changed on a host, so nothing has to be restored."""
    if Phase.TOGETHER not in progress.measured:
        return Step.MEASURE
    return Step.DECIDE if progress.decision is None else Step.DONE


def _restoring(progress: Progress) -> Step:
    if not progress.rolled_back:
        return Step.ROLL_BACK
    return Step.DONE if Phase.RESTORED in progress.measured else Step.MEASURE_RESTORED


def require_step(wanted: Step, progress: Progress) -> None:
    """Raise WrongStepError unless a step is the next one."""
    found = next_step(progress)
    if found is not wanted:
        raise WrongStepError(wanted, found)
