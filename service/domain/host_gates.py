"""The gates on what only somebody on the host can see: the client, the cards and the clock."""

from service.domain.soak import SOAK_S, shown
from service.domain.validity import Finding, Gate, RunFacts, failure, unknown, warning

# The tools are one Python process: nearer to a whole core, the client sets the pace.
CLIENT_CPU_SHARE_MAX = 0.9
# An idle P800 shows 0 to 32 MiB of 96 GiB in use; a forgotten server holds most of it.
IDLE_CARD_MEMORY = 0.01
# A clock lower by the default tolerance of throughput makes a regression all by itself.
LEAST_CLOCK_SHARE = 0.97
# For cards that do not tell their own limit. Our choice, so it only warns: no figure of the P800
# is public, and cards of data centres slow down between 85 and 95 degrees.
HOT_CARD_C = 85.0
# Our choice: tensor parallel cards wait for each other in every layer.
LEAST_BUSY_SHARE = 0.8
# A server takes its memory at the start and a steady load leaves it alone. Our choice.
CREEP_MAX = 0.01
# A clock that is slewed gains or loses at most 500 ppm (adjtimex(2)); beyond it, it was set.
SLEW = 500e-6
CLOCK_SLACK_S = 0.1


def _client(facts: RunFacts) -> Finding | None:
    gate, share = Gate.CLIENT_BOUND, facts.client_cpu_share
    if share is None:
        return unknown(gate)
    if share <= CLIENT_CPU_SHARE_MAX:
        return None
    required = f"at most {CLIENT_CPU_SHARE_MAX}"
    return failure(gate, observed=f"{share:.2f} of a core", required=required)


def _elsewhere(facts: RunFacts) -> Finding | None:
    gate = Gate.SERVER_ELSEWHERE
    if facts.cards_leased == ():
        return None
    if facts.cards_leased is None or facts.cards_used is None:
        return unknown(gate)
    if set(facts.cards_used) == set(facts.cards_leased):
        return None
    return failure(gate, observed=_names(facts.cards_used), required=_names(facts.cards_leased))


def _stranger(facts: RunFacts) -> Finding | None:
    """Find a neighbour by its processes, or by memory in use that no visible process explains.

    Processes of another PID namespace are not listed in ours; their memory is.
    """
    gate, memory = Gate.STRANGER_ON_CARDS, facts.card_memory_before
    if facts.cards_leased == ():
        return None
    if facts.strangers:
        return failure(gate, observed=_names(facts.strangers), required="nobody")
    if memory is not None and memory > IDLE_CARD_MEMORY:
        observed = f"{memory:.3f} of a card's memory in use before the launch"
        return failure(gate, observed=observed, required=f"at most {IDLE_CARD_MEMORY}")
    return unknown(gate) if facts.strangers is None or memory is None else None


def _throttled(facts: RunFacts) -> Finding | None:
    gate, share = Gate.CARD_THROTTLED, facts.card_clock_share
    if facts.cards_leased == ():
        return None
    if share is None:
        return unknown(gate)
    if share >= LEAST_CLOCK_SHARE:
        return None
    observed, required = f"{share:.2f} of the clock", f"at least {LEAST_CLOCK_SHARE}"
    return failure(gate, observed=observed, required=required)


def _hot(facts: RunFacts) -> Finding | None:
    gate, seen, limit = Gate.CARD_HOT, facts.card_temperature_c, facts.card_temperature_limit_c
    if facts.cards_leased == ():
        return None
    if seen is None:
        return unknown(gate)
    if limit is not None and seen >= limit:
        return failure(gate, observed=f"{seen:g} °C", required=f"below {limit:g} °C")
    if limit is None and seen >= HOT_CARD_C:
        return warning(gate, observed=f"{seen:g} °C", required=f"below {HOT_CARD_C:g} °C")
    return None


def _imbalance(facts: RunFacts) -> Finding | None:
    gate, busy = Gate.CARD_IMBALANCE, facts.card_busy
    if facts.cards_leased is not None and len(facts.cards_leased) <= 1:
        return None
    if not busy:
        return unknown(gate)
    if min(busy) >= LEAST_BUSY_SHARE * max(busy):
        return None
    observed = f"{min(busy):.2f} and {max(busy):.2f} busy"
    required = f"the least busy at {LEAST_BUSY_SHARE} of the busiest"
    return warning(gate, observed=observed, required=required)


def _creeps(facts: RunFacts) -> Finding | None:
    gate, grown = Gate.CARD_MEMORY_CREEPS, facts.card_memory_growth
    if facts.cards_leased == () or facts.duration_s is None or facts.duration_s < SOAK_S:
        return None
    if grown is None:
        return unknown(gate)
    if grown.center <= CREEP_MAX or grown.low <= 0:
        return None
    return warning(gate, observed=f"{shown(grown)} of a card", required=f"at most {CREEP_MAX}")


def _clock(facts: RunFacts) -> Finding | None:
    gate, drift = Gate.CLOCK_JUMPED, facts.clock_drift_s
    if drift is None:
        return unknown(gate)
    accepted = CLOCK_SLACK_S + SLEW * (facts.duration_s or 0.0)
    if abs(drift) <= accepted:
        return None
    return failure(gate, observed=f"{drift:+.2f} s", required=f"within {accepted:.2f} s")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


HOST_GATES = (
    _client,
    _elsewhere,
    _stranger,
    _throttled,
    _hot,
    _imbalance,
    _creeps,
    _clock,
)
