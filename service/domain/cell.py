"""The cell: one square of the matrix, a condition and how it is measured, without its stack."""

from dataclasses import dataclass

from service.domain.condition import Condition, Load


@dataclass(frozen=True, slots=True)
class Cell:
    """A condition and a protocol, by key: what one stack is compared with another in."""

    condition_key: str
    protocol_key: str


def title(condition: Condition) -> str:
    """Return a condition in a few words for a line of a table; it does not name it uniquely."""
    return f"{title_but_load(condition)} {_load(condition)}"


def title_but_load(condition: Condition) -> str:
    """Return a condition in a few words, without how many requests are under way."""
    traffic, cards = condition.traffic, condition.cards
    prefix = f" prefix {traffic.shared_prefix_tokens}" if traffic.shared_prefix_tokens else ""
    return (
        f"{condition.model.id.rpartition('/')[2]} {cards.count}×{cards.model} "
        f"{_spread(condition)} {traffic.input_tokens}→{traffic.output_tokens}{prefix}"
    )


def _spread(condition: Condition) -> str:
    spread = condition.parallelism
    degrees = {"tp": spread.tp, "pp": spread.pp, "dp": spread.dp, "ep": spread.ep}
    return " ".join(f"{name}{n}" for name, n in degrees.items() if n > 1 or name == "tp")


def _load(condition: Condition) -> str:
    traffic = condition.traffic
    match traffic.load:
        case Load.OPEN:
            return f"rate {traffic.rate:g}/s" if traffic.rate is not None else "open"
        case Load.CLOSED:
            return f"concurrency {traffic.concurrency}"
        case Load.BATCH:
            return f"batch {traffic.concurrency}"
