"""What a confirm's row keeps of its plan, as it is read back."""

from uuid import UUID

from pydantic import ConfigDict

from service.domain.cell import Cell
from service.domain.confirm import CONFIDENCE
from service.formats.confirms import ConfirmCell, ConfirmLook, CostRead
from service.formats.messages import Message
from service.stats.sequential import Looks
from service.store.confirms import StoredConfirm


class ConfirmContent(Message):
    """A confirm's plan; what a later Kunline adds to it is passed over.

    limit: what it may cost; is_own: a person named it, so what the event cost before is not taken
    off it. night: what all may cost. each_card_s: of one launch, as expected. replaced: jobs whose
    launch was lost or spoiled, and is measured once more. Jobs come in blocks: the first two times
    burn_in are thrown away.
    """

    model_config = ConfigDict(extra="ignore")

    limit: CostRead
    night: CostRead
    is_own: bool = False
    interleaved: bool = True
    cells: tuple[ConfirmCell, ...] = ()
    counts: tuple[int, ...] = ()
    burn_in: int = 0
    each_card_s: float = 0.0
    confidence: float = CONFIDENCE
    replaced: tuple[UUID, ...] = ()

    @property
    def looks(self) -> Looks:
        """The planned looks of each cell, so that all cells together keep the whole."""
        return Looks(self.counts, 1 - (1 - self.confidence) / len(self.cells))


def content_of(confirm: StoredConfirm) -> ConfirmContent:
    """Return the plan of a confirm."""
    return ConfirmContent.model_validate(confirm.content)


def looks_of(confirm: StoredConfirm) -> tuple[ConfirmLook, ...]:
    """Return what each look of a confirm said, the first one first."""
    return tuple(map(ConfirmLook.model_validate, confirm.looks))


def cell_of(named: ConfirmCell) -> Cell:
    """Return the cell that is measured again."""
    return Cell(named.condition_key, named.protocol_key)
