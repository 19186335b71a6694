"""How much of a server's KV cache a load needs."""

from service.domain.condition import Condition, Load


def tokens_in_flight(condition: Condition) -> int | None:
    """Return how many tokens one data parallel rank holds with all requests at their longest.

    None for an open load, which has no bound. A server tells the room of one rank, and the fullest
    rank holds the larger share of requests that do not divide evenly.
    """
    traffic = condition.traffic
    if traffic.load is Load.OPEN or traffic.concurrency is None:
        return None
    requests = -(-traffic.concurrency // condition.parallelism.dp)
    return requests * (traffic.input_tokens + traffic.output_tokens)
