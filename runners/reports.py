"""What a runner has seen, as the reports it sends: a launch, and each cell measured in it."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

import zstandard

from runners.benchmarks.repeat import Repeat
from runners.benchmarks.run_facts import wire
from service.domain.condition import Condition
from service.domain.job import launch_id
from service.domain.layer import Layer
from service.domain.redaction import redacted, redacted_text
from service.domain.resolution import Fact
from service.domain.validity import Gate, failure
from service.formats.orders import CellOrder, JobOrder
from service.formats.reports import (
    ARTEFACT_BYTES_MAX,
    Artefact,
    Broken,
    GateFinding,
    LaunchReport,
    LayerFinding,
    LoadedAnswer,
    RunReport,
    shortened,
)

LOG_TAIL_BYTES = 4 * 2**20
REMEDY_CHARACTERS_MAX = 1000


def launch_id_of(order: JobOrder) -> UUID:
    """Return the id of the launch that one claim of a job makes: a new claim, a new launch."""
    return launch_id(order.job_id, order.fencing_token)


def run_id_of(launch_id: UUID, cell: CellOrder) -> UUID:
    """Return the id of a cell's run in a launch: the same however often its report is made."""
    return uuid5(launch_id, f"{cell.condition_key} {cell.protocol_key}")


def artefact(name: str, content: bytes, *, media_type: str = "text/plain") -> Artefact:
    """Return a text as it travels. What is too long keeps its end, where the news is."""
    kept = content[-ARTEFACT_BYTES_MAX:]
    # Base64 on the wire: the message decodes what it is given.
    return Artefact.model_validate_json(
        json.dumps(
            {
                "name": name,
                "media_type": media_type,
                "digest": sha256(kept).hexdigest(),
                "zstd": b64encode(zstandard.ZstdCompressor().compress(kept)).decode(),
            }
        )
    )


def broken_at(layer: Layer, finding: str, remedy: str = "") -> Broken:
    """Return a broken layer as it travels: secrets out, begin and end of a long finding kept."""
    return Broken(
        layer=layer,
        finding=shortened(redacted_text(finding)),
        remedy=remedy[:REMEDY_CHARACTERS_MAX],
    )


def loaded_answer(
    condition: Condition, log_probabilities: tuple[float, ...]
) -> LoadedAnswer | None:
    """Return what the fixed prompts gave under a condition's load; None where they gave nothing."""
    if not log_probabilities or condition.traffic.concurrency is None:
        return None
    return LoadedAnswer(
        concurrency=condition.traffic.concurrency, log_probabilities=log_probabilities
    )


@dataclass(slots=True)
class LaunchNotes:
    """What is known of a launch so far; it can be made a report at any moment."""

    order: JobOrder
    host: str
    started_at: datetime
    stopped_at: datetime | None = None
    start_up_s: float | None = None
    observed: Mapping[str, str] = field(default_factory=dict)
    preflight: tuple[LayerFinding, ...] = ()
    answer: tuple[float, ...] = ()
    loaded_answer: LoadedAnswer | None = None
    broken: Broken | None = None
    server_info: Mapping[str, Any] = field(default_factory=dict)
    resolution: Mapping[str, Fact] = field(default_factory=dict)
    server_log: bytes = b""
    texts: Mapping[str, bytes] = field(default_factory=dict)

    def report(self) -> LaunchReport:
        """Return all that is known by now; a later report replaces an earlier one."""
        return LaunchReport(
            launch_id=launch_id_of(self.order),
            job_id=self.order.job_id,
            fencing_token=self.order.fencing_token,
            host=self.host,
            started_at=self.started_at,
            stopped_at=self.stopped_at,
            start_up_s=self.start_up_s,
            observed=dict(self.observed),
            resolution=dict(self.resolution),
            preflight=self.preflight,
            answer=self.answer,
            loaded_answer=self.loaded_answer,
            broken=self.broken,
            artefacts=tuple(self._artefacts()),
        )

    def _artefacts(self) -> Sequence[Artefact]:
        found = [artefact(name, text) for name, text in sorted(self.texts.items())]
        if self.server_info:
            text = json.dumps(redacted(self.server_info), indent=1, sort_keys=True).encode()
            found.append(artefact("server_info.json", text, media_type="application/json"))
        if self.server_log:
            end = self.server_log[-LOG_TAIL_BYTES:].decode(errors="replace")
            found.append(artefact("server.log", redacted_text(end).encode()))
        return found


def run_report(order: JobOrder, cell: CellOrder, repeats: Sequence[Repeat]) -> RunReport:
    """Return the report of a cell whose repeats are complete.

    A repeat that failed has no values; its seed is left out of the samples and stays in the
    findings, which make the run invalid.
    """
    measured = [repeat for repeat in repeats if repeat.values]
    shared = set.intersection(*(set(repeat.values) for repeat in measured)) if measured else set()
    texts = {name: text for repeat in repeats for name, text in repeat.texts.items()}
    return _run(
        order,
        cell,
        measured_at=_moment(min(repeat.started for repeat in repeats)),
        finished_at=_moment(max(repeat.ended for repeat in repeats)),
        seeds=tuple(repeat.seed for repeat in measured),
        values={name: tuple(repeat.values[name] for repeat in measured) for name in sorted(shared)},
        overhead_s=tuple(repeat.overhead_s for repeat in measured),
        findings=_merged(repeats),
        artefacts=tuple(artefact(name, text) for name, text in sorted(texts.items())),
    )


def failed_run(
    order: JobOrder, cell: CellOrder, *, at: datetime, findings: Sequence[GateFinding]
) -> RunReport:
    """Return the report of a cell that a gate kept from being measured at all."""
    return _run(order, cell, measured_at=at, finished_at=at, findings=tuple(findings))


def profiled_run(
    order: JobOrder,
    cell: CellOrder,
    *,
    begun: datetime,
    ended: datetime,
    texts: Mapping[str, bytes],
) -> RunReport:
    """Return the report of a cell that passed under a profiler: texts, a failed gate, no value."""
    found = wire(failure(Gate.PROFILED, observed="one", required="none"))
    return _run(
        order,
        cell,
        measured_at=begun,
        finished_at=ended,
        findings=(found,),
        artefacts=tuple(
            artefact(name, text, media_type=_media_type(name))
            for name, text in sorted(texts.items())
        ),
    )


def _media_type(name: str) -> str:
    return "application/gzip" if name.endswith(".gz") else "application/json"


def broken_run(order: JobOrder, cell: CellOrder, *, at: datetime, broken: Broken) -> RunReport:
    """Return the report of a cell that was never measured, because its stack broke."""
    return _run(order, cell, measured_at=at, finished_at=at, broken=broken)


def _run(order: JobOrder, cell: CellOrder, **more: Any) -> RunReport:
    launch_id = launch_id_of(order)
    return RunReport(
        run_id=run_id_of(launch_id, cell),
        job_id=order.job_id,
        launch_id=launch_id,
        fencing_token=order.fencing_token,
        condition_key=cell.condition_key,
        protocol_key=cell.protocol_key,
        **more,
    )


def _merged(repeats: Sequence[Repeat]) -> tuple[GateFinding, ...]:
    """Return one finding a code and severity, which says in how many repeats it was seen."""
    seen: dict[tuple[str, str], list[tuple[int, GateFinding]]] = {}
    for repeat in repeats:
        for finding in repeat.findings:
            seen.setdefault((finding.code, finding.severity), []).append((repeat.seed, finding))
    return tuple(_one(found, len(repeats)) for found in seen.values())


def _one(found: Sequence[tuple[int, GateFinding]], count: int) -> GateFinding:
    first = found[0][1]
    seeds = ", ".join(str(seed) for seed, _ in found)
    where = f"in {len(found)} of {count} repeats (seeds {seeds})"
    return first.model_copy(update={"message": redacted_text(f"{where}: {first.message}")})


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
