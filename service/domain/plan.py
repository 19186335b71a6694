"""The plan: which cells share a server process, in which order the stacks take turns, how long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from service.domain.ci_gate import Standing
from service.domain.condition import Condition, Parallelism
from service.domain.key import content_key
from service.domain.protocol import Protocol
from service.domain.server_arguments import Argument, Arguments, settled_name
from service.domain.stack import Stack

# The degrees of parallelism are a layout's; each is given to a server as this flag.
PARALLELISM_FLAGS = MappingProxyType(
    {"tp-size": "tp", "pp-size": "pp", "dp-size": "dp", "ep-size": "ep"}
)
# With it the data parallel ranks share the tensor parallel cards; without it each has its own.
DP_ATTENTION = "enable-dp-attention"


class ConflictError(ValueError):
    """Two files ask for one server argument or variable with different values."""

    def __init__(
        self, name: str, first: "Ask", second: "Ask", values: tuple[object, object]
    ) -> None:
        super().__init__(
            f"{name} is {values[0]!r} in {first.by} and {values[1]!r} in {second.by}: "
            "take it out of one of them"
        )


@dataclass(frozen=True, slots=True)
class Ask:
    """Server arguments and environment, and by which file they are asked for."""

    by: str
    arguments: Arguments = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What several files ask of a server together, under the flags' settled names."""

    arguments: Arguments
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition as a plan asks for it, before any stack, and the reason it is there.

    layout, workload, model, client: the names by which people know its parts.
    asks: all that the condition's server arguments and environment came from.
    seeds: one a repeat. start_s, repeat_s: what a start-up and one repeat are expected to take.
    standing: whether a gate in CI counts it.
    """

    layout: str
    workload: str
    model: str
    client: str
    why: str
    condition: Condition
    protocol: Protocol
    asks: tuple[Ask, ...]
    seeds: tuple[int, ...]
    start_s: float
    repeat_s: float
    standing: Standing = Standing.GATES


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the stacks measured in turn, and the file that describes it."""

    stack: Stack
    file: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One server process from start to stop, and the cells measured in it.

    server_arguments, server_environment: complete, from layout, condition and stack together.
    turn: which of its arm's launches of these cells it is, from 0; it decides the seeds' order.
    """

    stack: Stack
    cells: tuple[Cell, ...]
    server_arguments: Arguments
    server_environment: Mapping[str, str]
    turn: int = 0

    @property
    def cards(self) -> int:
        """How many cards the server takes."""
        return self.cells[0].condition.cards.count

    @property
    def expected_s(self) -> float:
        """How long start-up and all repeats of all cells are expected to take, in seconds."""
        measured = sum(cell.repeat_s * len(cell.seeds) for cell in self.cells)
        return self.cells[0].start_s + measured

    def seeds_of(self, cell: Cell) -> tuple[int, ...]:
        """Return a cell's seeds in the order in which this launch measures them."""
        return latin_row(cell.seeds, self.turn)


def card_count(parallelism: Parallelism, arguments: Arguments) -> int:
    """Return how many cards a server of this layout takes; experts live on the tensor ranks."""
    shared = arguments.get(DP_ATTENTION) is True
    return parallelism.tp * parallelism.pp * (1 if shared else parallelism.dp)


def parallelism_arguments(parallelism: Parallelism) -> dict[str, Argument]:
    """Return the flags of a layout; a degree of one is the server's default and not given."""
    degrees = {flag: getattr(parallelism, degree) for flag, degree in PARALLELISM_FLAGS.items()}
    return {flag: degree for flag, degree in degrees.items() if degree > 1}


def together(asks: Sequence[Ask]) -> Asked:
    """Return what several files ask for together. Raises ConflictError naming the two files."""
    arguments: dict[str, tuple[Ask, Argument]] = {}
    environment: dict[str, tuple[Ask, str]] = {}
    for ask in asks:
        for flag, value in ask.arguments.items():
            name = settled_name(flag)
            _agree(f"--{name}", arguments.setdefault(name, (ask, value)), ask, value)
        for name, text in ask.environment.items():
            _agree(name, environment.setdefault(name, (ask, text)), ask, text)
    return Asked(
        {name: value for name, (_, value) in sorted(arguments.items()) if value is not False},
        {name: text for name, (_, text) in sorted(environment.items())},
    )


def _agree(name: str, held: tuple[Ask, Argument], ask: Ask, value: Argument) -> None:
    by, first = held
    if (type(first), first) != (type(value), value):
        raise ConflictError(name, by, ask, (first, value))


def shared_launches(cells: Sequence[Cell]) -> tuple[tuple[Cell, ...], ...]:
    """Return cells in the fewest groups that one server process each can serve, in given order.

    Sharing is an equivalence: same model, client, cards, parallelism, server arguments and
    environment. So each class needs one launch, and no two classes can share one.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(content_key(server_needs(cell)), []).append(cell)
    return tuple(tuple(group) for group in groups.values())


def server_needs(cell: Cell) -> Mapping[str, object]:
    """Return all that a running server cannot change between two cells."""
    condition = cell.condition
    return {
        "model": cell.model,
        "served": condition.model,
        "client": cell.client,
        "cards": condition.cards,
        "parallelism": condition.parallelism,
        "server_arguments": condition.server_arguments,
        "server_environment": condition.server_environment,
    }


def interleaved(arms: Sequence[Arm], rounds: int) -> tuple[Arm, ...]:
    """Return the arms round by round, every other round reversed, as in A B B A.

    So a drift that is linear in time falls on all arms alike where the rounds are even.
    """
    forward, backward = tuple(arms), tuple(reversed(arms))
    return tuple(arm for turn in range(rounds) for arm in (backward if turn % 2 else forward))


def latin_row(seeds: Sequence[int], turn: int) -> tuple[int, ...]:
    """Return seeds in the order of one row of their cyclic Latin square.

    Over as many launches as there are seeds, each seed is measured once at each position, so what
    a server gains or loses by being warm falls on all seeds alike; and launches of the same turn,
    one in each arm, measure them in the same order.
    """
    begin = turn % len(seeds) if seeds else 0
    return (*seeds[begin:], *seeds[:begin])


def launches(cells: Sequence[Cell], arms: Sequence[Arm], rounds: int) -> tuple[Launch, ...]:
    """Return every launch of a session in its order, the fewest there can be.

    rounds: launches of each arm and group of cells. Groups follow one another; within a group
    the arms are interleaved, and seeds are rotated from round to round.
    Raises ConflictError when a condition and a stack disagree.
    """
    return tuple(
        _launch(group, arm, place // len(arms))
        for group in shared_launches(cells)
        for place, arm in enumerate(interleaved(arms, rounds))
    )


def _launch(cells: tuple[Cell, ...], arm: Arm, turn: int) -> Launch:
    first = cells[0]
    layout = Ask(f"the layout {first.layout}", parallelism_arguments(first.condition.parallelism))
    stack = Ask(arm.file, arm.stack.server_arguments, arm.stack.server_environment)
    asked = together((layout, *first.asks, stack))
    return Launch(arm.stack, cells, asked.arguments, asked.environment, turn)


@dataclass(frozen=True, slots=True)
class ExpectedTime:
    """What a session is expected to take. card_s: card-seconds, each launch times its cards."""

    wall_s: float
    card_s: float


def expected_time(planned: Sequence[Launch]) -> ExpectedTime:
    """Return how long launches take one after another, environments' building left out."""
    return ExpectedTime(
        wall_s=sum(launch.expected_s for launch in planned),
        card_s=sum(launch.expected_s * launch.cards for launch in planned),
    )
