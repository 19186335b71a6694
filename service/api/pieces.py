"""The pieces of large answers that a process keeps, one kind for each noun that has them."""

from dataclasses import dataclass, field

from fastapi import Request

from service.store.measured import Measured
from service.usecases.compare_stacks import CellTold
from service.usecases.pieces import Pieces
from service.usecases.read_curves import SideTold
from service.usecases.read_matrix import RowTold
from service.usecases.read_scaling import RowScaled
from service.usecases.read_series import Screened, StackOutlined


@dataclass(frozen=True, slots=True)
class KeptPieces:
    """What is measured of squares, and what is told of them: rows, cells, sides, outlines."""

    squares: Pieces[Measured] = field(default_factory=Pieces)
    rows: Pieces[RowTold] = field(default_factory=Pieces)
    cells: Pieces[CellTold] = field(default_factory=Pieces)
    sides: Pieces[SideTold] = field(default_factory=Pieces)
    scaled: Pieces[RowScaled] = field(default_factory=Pieces)
    outlined: Pieces[StackOutlined] = field(default_factory=Pieces)
    screened: Pieces[Screened] = field(default_factory=Pieces)


def pieces_of(request: Request) -> KeptPieces:
    """Return the process's pieces."""
    kept: KeptPieces = request.app.state.pieces
    return kept
