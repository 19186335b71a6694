"""The calls of gates and waivers, typed; and the patience to wait through a lost connection."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from uuid import UUID

import httpx
from pydantic import RootModel

from service.cli.answers.words import Language
from service.cli.claimants import nobody_takes
from service.cli.follow import follow
from service.cli.plain import complain
from service.client import Client, RefusedError, ServiceAwayError
from service.formats.ci_gates import GateListed, GateRead
from service.formats.claimants import ClaimantsRead
from service.formats.costs import CostRead
from service.formats.gate_plans import Costs, GateUpload
from service.formats.messages import Message
from service.formats.waivers import WaiverOrder, WaiverRead, WaiverRevocation

Answer = TypeVar("Answer")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
# How often it is looked whether a runner will come.
WATCH_S = 60.0
# As many conditions as one call asks the costs of.
COSTS_BATCH = 100


class _Gates(RootModel[tuple[GateListed, ...]]):
    """A list of gates."""


class _Waivers(RootModel[tuple[WaiverRead, ...]]):
    """A list of waivers."""


class _Costs(RootModel[tuple[CostRead, ...]]):
    """What cells cost."""


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


@dataclass(slots=True)
class Watch:
    """Says why nobody takes a gate's launches while it is waited for, each reason once.

    said: what was said last; None for nothing.
    """

    client: Client
    gate: GateRead
    patience: Patience
    language: Language
    said: str | None = None
    again_at_s: float = 0.0

    def look(self) -> None:
        """Keep children running, and look at the runners where it is time. Raises RefusedError."""
        self.patience.tend()
        now_s = self.patience.clock()
        if now_s < self.again_at_s:
            return
        self.again_at_s = now_s + WATCH_S
        note = nobody_yet(self.client, self.gate, self.language)
        if note is not None and note != self.said:
            complain(note)
        self.said = note


def finished(watch: Watch) -> GateRead:
    """Follow a gate to its end and return it, showing how far it is."""
    client, gate, patience = watch.client, watch.gate, watch.patience
    if gate.answer.state == "running":
        patience.through(
            lambda: follow(client, gate.session.id, tend=watch.look, language=watch.language)
        )
    return patience.through(lambda: read(client, gate.id))


def read(client: Client, gate_id: UUID) -> GateRead:
    """Return a gate, how far it is and what it says by now."""
    return client.ask(GateRead, f"gates/{gate_id}")


def nobody_yet(client: Client, gate: GateRead, language: Language) -> str | None:
    """Return why no runner takes a gate's launches, and what to do; None where one will."""
    found = _where_known(lambda: client.ask(ClaimantsRead, f"sessions/{gate.session.id}/claimants"))
    return None if found is None else nobody_takes(found, language)


def costs(client: Client, condition_keys: Sequence[str]) -> Costs:
    """Return what cells took when they were measured before, of those that were."""
    found: dict[str, CostRead] = {}
    for begin in range(0, len(condition_keys), COSTS_BATCH):
        query = {"condition_key": list(condition_keys[begin : begin + COSTS_BATCH])}
        told = _where_known(partial(client.ask, _Costs, "costs", query=query))
        found |= {each.condition_key: each for each in (told.root if told else ())}
    return found


def _where_known(call: Callable[[], Answer]) -> Answer | None:
    """Return what a call answers; None of a service that is older than what it asks."""
    try:
        return call()
    except RefusedError as error:
        if error.problem.status != httpx.codes.NOT_FOUND:
            raise
        return None


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
