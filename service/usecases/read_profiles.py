"""Read profiles: what both stacks of an incident did under the profiler, beside the estimate."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError

from service.domain.audit import Entry
from service.domain.cell import title
from service.domain.communication import decoding, prefill
from service.domain.condition import Condition
from service.domain.profile import Stage
from service.formats.artefacts import ArtefactRead
from service.formats.communications import CommunicationSeen
from service.formats.profiles import (
    ARTEFACT,
    TRACE,
    ProfileArm,
    ProfileRead,
    ProfileSeen,
    StageChecked,
    StageProfiled,
)
from service.formats.stack_differences import StackNamed
from service.store import artefacts, conditions, incidents, jobs, runs, sessions, stacks
from service.store.artefacts import Files, HeldContent
from service.store.database import ReadSession
from service.store.jobs import StoredJob
from service.store.runs import StoredRun
from service.usecases.keep_artefact import read_artefact
from service.usecases.order_profile import ordered_before, session_of
from service.usecases.read_communication import NOT_SEEN, NOT_TP, ONE_CARD, seen_of

RUNS = 100
# A batch is sent twice under the profiler: for its first tokens alone, and whole.
BATCHES = 2
NOT_READ = "its run holds no profile that this release reads"


@dataclass(frozen=True, slots=True)
class _Held:
    """What is kept of a profile. runs: by job. texts, seen: by run. told: by launch."""

    runs: Mapping[UUID, StoredRun]
    texts: Mapping[UUID, Sequence[HeldContent]]
    seen: Mapping[UUID, ProfileSeen]
    told: Mapping[UUID, CommunicationSeen]


def list_profiles(
    session: ReadSession, incident_id: UUID, *, files: Files
) -> tuple[ProfileRead, ...]:
    """Return the profiles of an incident, the newest first. Raises UnknownIncidentError."""
    incidents.read(session, incident_id)
    ordered = reversed(ordered_before(session, incident_id))
    return tuple(_profile(session, incident_id, entry, files) for entry in ordered)


def read_profile(
    session: ReadSession, incident_id: UUID, session_id: UUID, *, files: Files
) -> ProfileRead:
    """Return one profile by its session."""
    entries = ordered_before(session, incident_id)
    entry = next(each for each in entries if session_of(each) == session_id)
    return _profile(session, incident_id, entry, files)


def _profile(session: ReadSession, incident_id: UUID, entry: Entry, files: Files) -> ProfileRead:
    session_id, key = session_of(entry), (entry.after or {})["condition_key"]
    condition = conditions.by_key(session, {key})[key]
    under = jobs.of_session(session, session_id)
    held = _held(session, runs.of_session(session, session_id, limit=RUNS), files)
    names = stacks.names(session, {job.stack_key for job in under})
    return ProfileRead(
        incident_id=incident_id,
        session_id=session_id,
        condition_key=key,
        title=title(condition),
        host=sessions.read(session, session_id).host,
        asked_by=entry.actor,
        asked_at=entry.at,
        why=entry.reason,
        arms=tuple(
            _arm(StackNamed(name=names[job.stack_key], key=job.stack_key), job, condition, held)
            for job in under
        ),
    )


def _arm(named: StackNamed, job: StoredJob, condition: Condition, held: _Held) -> ProfileArm:
    run = held.runs.get(job.id)
    if run is None or run.broken is not None:
        found = {} if run is None else run.broken or {}
        why = f"broken at {found['layer']}: {found['finding']}" if found else ""
        return ProfileArm(
            stack=named, state=job.state.value, run_id=run and run.id, seen=None, reason=why
        )
    seen, told = held.seen.get(run.id), held.told.get(run.launch_id)
    reason = _obstacle(condition, seen, told)
    return ProfileArm(
        stack=named,
        state=job.state.value,
        run_id=run.id,
        seen=seen,
        checked={} if reason or seen is None or told is None else _checked(seen, told),
        traces=tuple(map(_trace, filter(_is_trace, held.texts.get(run.id, ())))),
        reason=reason,
    )


def _obstacle(
    condition: Condition, seen: ProfileSeen | None, told: CommunicationSeen | None
) -> str:
    """Return why nothing is estimated beside a profile, or nothing."""
    spread = condition.parallelism
    if seen is None:
        return NOT_READ
    if seen.reason:
        return seen.reason
    if condition.cards.count == 1:
        return ONE_CARD
    if (spread.pp, spread.dp, spread.ep) != (1, 1, 1):
        return NOT_TP
    return NOT_SEEN if told is None else ""


def _checked(seen: ProfileSeen, told: CommunicationSeen) -> dict[Stage, StageChecked]:
    """Return the estimate of each stage that was profiled beside what was profiled of it."""
    estimated = {
        Stage.DECODE: decoding(
            told.shape, told.curve, sequences=seen.sequences, ranks=told.ranks
        ).seconds,
        Stage.PREFILL: prefill(
            told.shape,
            told.curve,
            tokens=seen.sequences * seen.input_tokens,
            sequences=seen.sequences,
            chunk=told.chunk,
            ranks=told.ranks,
        ).seconds,
    }
    return {
        stage: _beside(estimated[stage], _profiled_s(stage, found))
        for stage, found in seen.stages.items()
    }


def _profiled_s(stage: Stage, found: StageProfiled) -> float:
    """Return the messages of one decoded token, or of the whole prefill of one batch."""
    return found.message_s * (found.passes / BATCHES if stage is Stage.PREFILL else 1)


def _beside(estimated_s: float, profiled_s: float) -> StageChecked:
    ratio = estimated_s / profiled_s if profiled_s else None
    return StageChecked(estimated_s=estimated_s, profiled_s=profiled_s, ratio=ratio)


def _is_trace(held: HeldContent) -> bool:
    return held.name.startswith(TRACE)


def _trace(held: HeldContent) -> ArtefactRead:
    return ArtefactRead(
        name=held.name,
        media_type=held.media_type,
        digest=held.digest,
        size_bytes=held.size_bytes,
    )


def _held(session: ReadSession, found: Sequence[StoredRun], files: Files) -> _Held:
    texts = artefacts.of_holders(session, {run.id for run in found})
    seen = {}
    for run_id, kept in texts.items():
        for each in kept:
            if each.name == ARTEFACT:
                with suppress(ValidationError):  # the words of a later release
                    text = read_artefact(session, files, digest=each.digest)
                    seen[run_id] = ProfileSeen.model_validate_json(text)
    return _Held(
        runs={run.job_id: run for run in found if run.job_id is not None},
        texts=texts,
        seen=seen,
        told=seen_of(session, {run.launch_id for run in found}, files),
    )
