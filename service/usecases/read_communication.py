"""Read communication: what share of a session's times its cards spend on telling each other."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from uuid import UUID

from pydantic import ValidationError

from service.domain.cell import title
from service.domain.communication import Phase, decoding, prefill, slow_links
from service.domain.condition import Condition, Load
from service.formats.communications import (
    ARTEFACT,
    CellCommunication,
    CommunicationRead,
    CommunicationSeen,
    PhaseRead,
)
from service.formats.stack_differences import StackNamed
from service.store import artefacts, conditions, runs, samples, sessions, stacks
from service.store.artefacts import Files
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.keep_artefact import read_artefact

RUNS = 5000
TTFT, TPOT = "ttft_p50", "tpot_p50"
ONE_CARD = "one card has nobody to tell anything"
NOT_SEEN = "its launch tells of no messages between its cards: they were not measured"
NOT_TP = "only tensor parallel layouts are estimated, and not pp, dp or ep"
NO_VALUES = "it has no run that may be judged"

Seen = Mapping[UUID, CommunicationSeen]


@dataclass(frozen=True, slots=True)
class _Cell:
    """The judged runs of one stack under one condition on one host."""

    condition: Condition
    runs: Sequence[StoredRun]
    values: Mapping[UUID, Mapping[str, Sequence[float]]]

    def measured(self, metric: str) -> float | None:
        """Return the median over launches of each one's median; None where there is none."""
        found = [self.values[run.id].get(metric) for run in self.runs]
        middles = [median(values) for values in found if values]
        return median(middles) if middles else None


def read_communication(
    session: ReadSession, session_id: UUID, *, files: Files
) -> CommunicationRead:
    """Return the estimates of a session's cells. Raises UnknownSessionError."""
    sessions.read(session, session_id)
    found = runs.of_session(session, session_id, limit=RUNS)
    seen = seen_of(session, {run.launch_id for run in found}, files)
    under = conditions.by_key(session, {run.condition_key for run in found})
    values = samples.of_runs(session, [run.id for run in found], metrics={TTFT, TPOT})
    names = stacks.names(session, {run.stack_key for run in found})
    cells: dict[tuple[str, str, str, str], list[StoredRun]] = defaultdict(list)
    for run in found:
        cells[run.stack_key, run.host, run.condition_key, run.protocol_key].append(run)
    told = [
        _cell(_Cell(under[of_cell[0].condition_key], of_cell, values), seen, names)
        for of_cell in cells.values()
    ]
    return CommunicationRead(
        session_id=session_id,
        cells=tuple(sorted(told, key=_order)),
        slow_links=tuple(dict.fromkeys(_slow(seen))),
    )


def seen_of(session: ReadSession, launch_ids: set[UUID], files: Files) -> Seen:
    """Return what launches told of their cards' messages.

    One that told nothing, or in the words of a later release, is left out.
    """
    found = {}
    for launch_id, held in artefacts.of_holders(session, launch_ids).items():
        for artefact in held:
            if artefact.name == ARTEFACT:
                text = read_artefact(session, files, digest=artefact.digest)
                with suppress(ValidationError):
                    found[launch_id] = CommunicationSeen.model_validate_json(text)
    return found


def _slow(seen: Seen) -> Sequence[str]:
    return [link.sentence for each in seen.values() for link in slow_links(each.speeds, {})]


def _cell(cell: _Cell, seen: Seen, names: Mapping[str, str]) -> CellCommunication:
    judged = [run for run in cell.runs if run.may_be_judged]
    kept = _Cell(cell.condition, judged, cell.values)
    reason = _obstacle(kept, seen)
    told = None if reason else next(seen[run.launch_id] for run in judged if run.launch_id in seen)
    first, traffic = cell.runs[0], cell.condition.traffic
    return CellCommunication(
        condition_key=first.condition_key,
        protocol_key=first.protocol_key,
        title=title(cell.condition),
        stack=StackNamed(name=names[first.stack_key], key=first.stack_key),
        host=first.host,
        tp=cell.condition.parallelism.tp,
        input_tokens=traffic.input_tokens,
        concurrency=traffic.concurrency,
        decode=None if told is None else _decode(kept, told),
        prefill=None if told is None else _prefill(kept, told),
        launches=tuple(dict.fromkeys(run.launch_id for run in judged)),
        reason=reason,
    )


def _obstacle(cell: _Cell, seen: Seen) -> str:
    """Return why nothing is estimated of a cell, or nothing."""
    spread = cell.condition.parallelism
    if cell.condition.cards.count == 1:
        return ONE_CARD
    if (spread.pp, spread.dp, spread.ep) != (1, 1, 1):
        return NOT_TP
    if not cell.runs:
        return NO_VALUES
    return "" if any(run.launch_id in seen for run in cell.runs) else NOT_SEEN


def _decode(cell: _Cell, told: CommunicationSeen) -> PhaseRead | None:
    """Return the estimate of one token of every request in flight; None for a load without bound.

    With prefills of others between its passes, a token's time is longer than its own pass.
    """
    traffic, measured = cell.condition.traffic, cell.measured(TPOT)
    if measured is None or traffic.concurrency is None:
        return None
    phase = decoding(told.shape, told.curve, sequences=traffic.concurrency, ranks=told.ranks)
    return _read(phase, measured, at_least=traffic.load is not Load.BATCH)


def _prefill(cell: _Cell, told: CommunicationSeen) -> PhaseRead | None:
    """Return the estimate of a prefill: of the whole batch, or of one request among others."""
    traffic, measured = cell.condition.traffic, cell.measured(TTFT)
    if measured is None:
        return None
    together = (traffic.concurrency or 1) if traffic.load is Load.BATCH else 1
    phase = prefill(
        told.shape,
        told.curve,
        tokens=together * (traffic.input_tokens - traffic.shared_prefix_tokens),
        sequences=together,
        chunk=told.chunk,
        ranks=told.ranks,
    )
    alone = traffic.load is Load.BATCH or traffic.concurrency == 1
    return _read(phase, measured, at_least=not alone)


def _read(phase: Phase, measured_s: float, *, at_least: bool) -> PhaseRead:
    return PhaseRead(
        message_bytes=phase.volume.message_bytes,
        messages=phase.volume.sums,
        pass_bytes=phase.volume.pass_bytes,
        passes=phase.passes,
        kind=phase.kind,
        seconds=phase.seconds,
        measured_s=measured_s,
        share=phase.share_of(measured_s),
        at_least=at_least,
    )


def _order(cell: CellCommunication) -> tuple[str, str, int, int, int, str]:
    """Put the lengths of one layout and load below each other, so that growth is seen."""
    load = cell.concurrency or 0
    return cell.stack.name, cell.host, cell.tp, load, cell.input_tokens, cell.title
