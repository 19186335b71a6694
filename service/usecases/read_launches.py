"""Read a launch: what was seen of one server process, and the texts it left."""

from uuid import UUID

from service.formats.artefacts import ArtefactRead
from service.formats.launches import LaunchRead
from service.formats.reports import Broken, LayerFinding, LoadedAnswer
from service.formats.verdicts import DifferenceRead
from service.store import artefacts, launches, stacks
from service.store.database import ReadSession


def read_launch(session: ReadSession, launch_id: UUID) -> LaunchRead:
    """Return one launch. Raises UnknownLaunchError."""
    launch = launches.read(session, launch_id)
    held = artefacts.of_holders(session, [launch_id])[launch_id]
    return LaunchRead(
        id=launch.id,
        job_id=launch.job_id,
        stack_key=launch.stack_key,
        stack_name=stacks.names(session, [launch.stack_key])[launch.stack_key],
        host=launch.host,
        started_at=launch.started_at,
        stopped_at=launch.stopped_at,
        start_up_s=launch.start_up_s,
        observed=dict(launch.observed),
        drift=tuple(DifferenceRead.model_validate(difference) for difference in launch.drift),
        resolution=dict(launch.resolution),
        preflight=tuple(LayerFinding.model_validate(finding) for finding in launch.preflight),
        answer=tuple(launch.answer),
        loaded_answer=LoadedAnswer.model_validate(launch.loaded_answer)
        if launch.loaded_answer
        else None,
        broken=None if launch.broken is None else Broken.model_validate(launch.broken),
        artefacts=tuple(
            ArtefactRead(
                name=artefact.name,
                media_type=artefact.media_type,
                digest=artefact.digest,
                size_bytes=artefact.size_bytes,
            )
            for artefact in held
        ),
    )
