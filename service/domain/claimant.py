"""Whether a runner will take the launches of a session, or what keeps it from that."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from service.domain.job import Capacity

# A runner asks for work, or renews a lease, every few seconds; one whose service is away asks
# again within half a minute.
SILENT_AFTER = timedelta(minutes=3)


class Obstacle(StrEnum):
    """What keeps a runner from taking launches; what lasts comes before what passes."""

    HOST = "host"
    CHIP = "chip"
    CARDS = "cards"
    PAUSED = "paused"
    DRAINING = "draining"
    SILENT = "silent"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Needs:
    """What the launches of a session ask of a runner.

    cards: the most that one of them takes. host: where they have to run; None for any.
    """

    pool: str
    chip: str
    cards: int
    host: str | None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a runner brings, and how it stands.

    state: what a person has set. silent: how long it was not heard of. is_open: whether its
    window lets it begin a job now.
    """

    capacity: Capacity
    state: str
    silent: timedelta
    is_open: bool


def obstacle(needs: Needs, offer: Offer) -> Obstacle | None:
    """Return what keeps a runner of the pool from taking launches; None where nothing does.

    One that is busy with something else is kept from nothing: it asks again when it is done.
    """
    capacity = offer.capacity
    found = {
        Obstacle.HOST: needs.host not in {None, capacity.host},
        Obstacle.CHIP: needs.chip not in capacity.chips,
        Obstacle.CARDS: needs.cards > capacity.cards,
        Obstacle.PAUSED: offer.state == "paused",
        Obstacle.DRAINING: offer.state == "draining",
        Obstacle.SILENT: offer.silent > SILENT_AFTER,
        Obstacle.CLOSED: not offer.is_open,
    }
    return next((each for each, stands in found.items() if stands), None)
