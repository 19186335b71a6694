"""What is measured of some stacks, square by square, of which only what changed is read anew."""

from collections.abc import Collection, Sequence

from service.store import measured
from service.store.database import ReadSession
from service.store.measured import Measured
from service.usecases.pieces import Pieces

# As many squares, over all hosts, as are looked at.
SQUARES = 100_000


def measured_squares(
    session: ReadSession, stack_keys: Collection[str], *, kept: Pieces[Measured]
) -> Sequence[Measured]:
    """Return what is measured of some stacks, cell by cell and host by host.

    kept: what was read before. How many runs there are is counted each time, of an index alone:
    that takes a fifth of what it takes to read them.
    """
    counted = measured.counts(session, stack_keys, limit=SQUARES)
    launched = measured.launched(session, stack_keys)

    def tell(missing: Sequence[int]) -> Sequence[Measured]:
        lacking = [counted[place][:4] for place in missing]
        read = measured.of_stacks(
            session,
            {stack_key for stack_key, *_ in lacking},
            conditions={condition_key for _, condition_key, *_ in lacking},
            limit=SQUARES,
        )
        found = {
            (each.stack_key, each.cell.condition_key, each.cell.protocol_key, each.host): each
            for each in read
        }
        return [found[square] for square in lacking]

    return kept.told([(*each, launched[each[0]]) for each in counted], tell)
