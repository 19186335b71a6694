"""Nudges: the one message there is between service and runners. It says 'there may be work'.

It carries a job's id and nothing else, may arrive twice or never, and decides nothing: the row of
the job is the truth.
"""

from dataclasses import dataclass
from uuid import UUID

TASK = "runners.nudge"

# The same in every process that touches the broker: where it differs, the shortest one counts,
# and a message that waits longer is delivered twice.
VISIBILITY_TIMEOUT_S = 12 * 3600

# A nudge that nobody took by then is thrown away; another one is sent as long as the job waits.
EXPIRES_S = 120


@dataclass(frozen=True, slots=True)
class Nudge:
    """One message: there may be work for whoever listens to this queue."""

    queue: str
    job_id: UUID


def pool_queue(pool: str) -> str:
    """Return the queue that every runner of a pool listens to."""
    return f"pool.{pool}"


def host_queue(host: str) -> str:
    """Return the queue of one host alone."""
    return f"host.{host}"
