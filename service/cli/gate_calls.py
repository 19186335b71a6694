"""The calls of gates and waivers, typed; and the patience to wait through a lost connection."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from pydantic import RootModel

from service.cli.follow import follow
from service.cli.plain import complain
from service.client import Client, ServiceAwayError
from service.formats.ci_gates import GateListed, GateRead
from service.formats.gate_plans import GateUpload
from service.formats.messages import Message
from service.formats.sessions import SessionRead
from service.formats.waivers import WaiverOrder, WaiverRead, WaiverRevocation

Answer = TypeVar("Answer")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0


class _Gates(RootModel[tuple[GateListed, ...]]):
    """A list of gates."""


class _Waivers(RootModel[tuple[WaiverRead, ...]]):
    """A list of waivers."""


class _Nothing(Message):
    """The body of a write that needs no words."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a lost connection is waited for, in seconds. tend: keeps children running."""

    limit_s: float
    tend: Callable[[], None] = lambda: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def through(self, call: Callable[[], Answer]) -> Answer:
        """Return what a call answers, however often the service is away meanwhile.

        Raises ServiceAwayError when it was away for longer than the limit without a break.
        """
        away_since: float | None = None
        pause_s = FIRST_PAUSE_S
        while True:
            begun = self.clock()
            try:
                return call()
            except ServiceAwayError as error:
                now = self.clock()
                # A call that lasted had the service for most of that time.
                if away_since is None or now - begun > LONGEST_PAUSE_S:
                    away_since, pause_s = now, FIRST_PAUSE_S
                if now - away_since >= self.limit_s:
                    raise
                complain(f"{error}; asking again in {pause_s:.0f} s")
                self.tend()
                self.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def submit(client: Client, upload: GateUpload, patience: Patience, *, key: str | None) -> GateRead:
    """Queue a gate, its files first, and return it.

    key: the same one gives the same gate; None for a gate of its own.
    """
    chosen = key or secrets.token_hex(16)
    for content in upload.artefacts.values():
        patience.through(lambda content=content: client.put_artefact(content))  # type: ignore[misc]
    return patience.through(
        lambda: client.ask(GateRead, "gates", body=upload.order, idempotency_key=chosen)
    )


def finished(client: Client, gate: GateRead, patience: Patience) -> GateRead:
    """Follow a gate to its end and return it, showing how far it is."""
    if gate.answer.state == "running":
        patience.through(lambda: follow(client, gate.session.id, tend=patience.tend))
    return patience.through(lambda: read(client, gate.id))


def read(client: Client, gate_id: UUID) -> GateRead:
    """Return a gate, how far it is and what it says by now."""
    return client.ask(GateRead, f"gates/{gate_id}")


def no_runner(client: Client, session: SessionRead) -> str | None:
    """Return a sentence where no runner is known that could take a session's launches, or None."""
    if session.state != "queued" or any(each.pool == session.pool for each in client.runners()):
        return None
    return (
        f"no runner of pool {session.pool} is registered: the gate is queued until one is; "
        f"`kunline runner --pool {session.pool}` starts one on the host with the cards"
    )


def cancel(client: Client, gate_id: UUID) -> GateRead:
    """Cancel a gate: queued launches at once, a running one at its next sign of life."""
    return client.ask(GateRead, f"gates/{gate_id}/cancel", body=_Nothing())


def newest(client: Client, *, limit: int) -> tuple[GateListed, ...]:
    """Return the newest gates."""
    return client.ask(_Gates, "gates", query={"limit": limit}).root


def waive(client: Client, order: WaiverOrder) -> WaiverRead:
    """Waive a worsening until a day."""
    return client.ask(WaiverRead, "waivers", body=order)


def waivers(client: Client) -> tuple[WaiverRead, ...]:
    """Return every waiver, the newest made first."""
    return client.ask(_Waivers, "waivers").root


def revoke(client: Client, waiver_id: UUID, order: WaiverRevocation) -> WaiverRead:
    """Take a waiver back."""
    return client.ask(WaiverRead, f"waivers/{waiver_id}/revocation", body=order)
