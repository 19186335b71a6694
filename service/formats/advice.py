"""What is asked before an upgrade, and what the service answers."""

from typing import Annotated, Self

from pydantic import AwareDatetime, Field, NonNegativeInt, PositiveInt, model_validator

from service.domain.advice import Answer, Standing
from service.domain.compat import CompatState
from service.domain.constraint import Held
from service.domain.layer import Layer
from service.domain.stack import SwapScope
from service.domain.stack_difference import ComponentChange
from service.domain.verdict import Outcome
from service.formats.compat_words import Said
from service.formats.identities import Key, Name, StackAsked
from service.formats.matrix_view import MetricVerdict
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed
from service.formats.verdicts import DifferenceRead

Text = Annotated[str, Field(max_length=256, pattern=r"^[^\x00]*$")]


class AdviceQuestion(Message):
    """An upgrade that is asked about: to another stack, or to other versions of some components.

    cards: only cells on so many. keep: whether the question counts in what people ask for.
    """

    from_stack: StackAsked
    to_stack: StackAsked | None = None
    versions: dict[Name, Annotated[Text, Field(min_length=1)]] = Field(
        default_factory=dict, max_length=50
    )
    model: Text | None = None
    card_model: Text | None = None
    cards: PositiveInt | None = None
    keep: bool = True

    @model_validator(mode="after")
    def _names_a_target(self) -> Self:
        if self.to_stack is None and not self.versions:
            raise ValueError("say where to: another stack, or other versions of some components")
        return self


class ConstraintFinding(Message):
    """A declared constraint beside the wanted stack, and beside what was measured of it.

    said: words in both languages. contradicted: the stack works, and by this constraint it
    should not.
    """

    name: str
    words: str
    said: Said
    source: str
    held: Held
    stays_behind: tuple[str, ...] = ()
    contradicted: bool = False


class CellAdvice(Message):
    """One cell of an upgrade: the expected change of each metric, with its interval."""

    condition_key: Key
    protocol_key: Key
    title: str
    standing: Standing
    outcome: Outcome | None
    host: str | None
    verdicts: tuple[MetricVerdict, ...]
    layer: Layer | None
    finding: str
    distance: float | None
    distance_tolerance: float | None
    loaded_distance: float | None = None
    loaded_tolerance: float | None = None
    loaded_concurrency: PositiveInt | None = None
    kv_before: NonNegativeInt | None
    kv_after: NonNegativeInt | None
    measured_at: AwareDatetime | None


class Nearest(Message):
    """The tested stack that differs least from one that was never tested."""

    stack: StackNamed
    state: CompatState
    differences: tuple[DifferenceRead, ...]


class AdviceRead(Message):
    """The answer to whether one may move from one stack to another.

    said: sentence in both languages. known: whether the wanted stack has a key that anything was
    measured of. scope: what must be restarted. moves_with: components that must move too, by a
    declared constraint. command: what measures exactly the missing cells; None where nothing is
    missing or no plan is known.
    """

    answer: Answer
    sentence: str
    said: Said
    baseline: StackNamed
    candidate: StackNamed
    known: bool
    changes: tuple[ComponentChange, ...]
    scope: SwapScope | None
    moves_with: tuple[str, ...]
    constraints: tuple[ConstraintFinding, ...]
    cells: tuple[CellAdvice, ...]
    nearest: Nearest | None
    command: str | None
    evidence_from: AwareDatetime | None
