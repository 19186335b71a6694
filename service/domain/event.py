"""Events: what the screen saw, one per cause instead of one alarm per cell."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

# Two sightings in one direction whose change points lie this near to each other are one event.
NEAR_RUNS = 5
# So much of a host's series have to move for it to be the cause, and more than so much of all that
# moved have to be its own: a list holds a few by chance.
NEARLY_ALL = 0.9
MOSTLY = 0.75
FEWEST_OF_HOST = 3
FEWEST_HOSTS = 2


@dataclass(frozen=True, slots=True)
class Moved:
    """A series that moved: change is a ratio of its value, evidence in standard errors."""

    series: str
    change: float
    evidence: float


@dataclass(frozen=True, slots=True)
class Event:
    """A change that one or more series show.

    change_run: index of the first run of the new level. seen: how many runs there were when it
    was first seen. trigger: the series, or the pooled group, that alarmed. moved: the series
    listed, strongest first. presumed: series not measured in that run, so not known to have
    stayed. host: the one host whose series moved, all of them and few others, if that is so.
    """

    change_run: int
    seen: int
    worse: bool
    trigger: str
    moved: tuple[Moved, ...]
    presumed: tuple[str, ...] = ()
    host: str | None = None


def joined(known: Iterable[Event], event: Event) -> Event | None:
    """Return the known event that an event is another sighting of, or None."""
    return next(
        (
            each
            for each in known
            if each.worse is event.worse and abs(each.change_run - event.change_run) <= NEAR_RUNS
        ),
        None,
    )


def host_of(moved: Collection[str], hosts: Mapping[str, str]) -> str | None:
    """Return the host that moved: nearly all its series did, and hardly any of another host.

    hosts: the host of each series; with one host in all nothing can be said.
    """
    if len({*hosts.values()}) < FEWEST_HOSTS:
        return None
    moving = Counter(hosts[name] for name in moved if name in hosts)
    for host, count in moving.most_common(1):
        own = sum(where == host for where in hosts.values())
        enough = own >= FEWEST_OF_HOST and count >= NEARLY_ALL * own
        return host if enough and count > MOSTLY * moving.total() else None
    return None
