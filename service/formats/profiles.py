"""Profiled passes: as a runner saw one, as one is asked for, and as it is answered."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AwareDatetime,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)

from service.domain.profile import Profile, Stage, StageProfile
from service.formats.artefacts import ArtefactRead
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed

# The artefact of a run that holds what a profiled pass told, and how those of its traces begin.
ARTEFACT = "profile.json"
TRACE = "profile-"

Words = Annotated[str, Field(min_length=1, max_length=1000)]
Person = Annotated[str, Field(min_length=1, max_length=128)]


class StageProfiled(Message):
    """The passes of one stage, each figure of one pass, seconds.

    message_s: in sums and gathers, without waiting_s for the slowest rank; null where no second
    rank tells the two apart. other_s: in what the scheduler itself told. share: message_s over
    pass_s.
    """

    passes: PositiveInt
    pass_s: PositiveFloat
    messages: NonNegativeFloat
    message_s: NonNegativeFloat
    waiting_s: NonNegativeFloat | None
    other_s: NonNegativeFloat
    share: NonNegativeFloat

    @classmethod
    def of(cls, stage: StageProfile) -> Self:
        """Return a stage as it travels."""
        waiting_s = None if stage.waiting_s is None else max(stage.waiting_s, 0.0)
        return cls(
            passes=stage.passes,
            pass_s=stage.pass_s,
            messages=stage.messages,
            message_s=stage.message_s,
            waiting_s=waiting_s,
            other_s=stage.other_s,
            share=stage.share,
        )


class PipelineStageProfiled(Message):
    """How long one stage of a pipeline computes in a pass, messages left out."""

    pipeline_rank: NonNegativeInt
    stage: Stage
    compute_s: float


class BusyProfiled(Message):
    """What the first rank spent time on by itself, in all passes together."""

    name: str = Field(max_length=400)
    seconds: float


class ProfileSeen(Message):
    """What a profiled batch told. Times under a profiler are no measurement.

    sequences, input_tokens, output_tokens: of the batch. first_token_s: until the whole batch had
    its first token, under the profiler. stages: none where no pass was named in the traces.
    left_out: names of traces that are too large to be kept. reason: why nothing is told of
    messages.
    """

    version: Literal[1] = 1
    ranks: NonNegativeInt
    sequences: PositiveInt
    input_tokens: PositiveInt
    output_tokens: PositiveInt
    first_token_s: PositiveFloat
    stages: dict[Stage, StageProfiled] = Field(default_factory=dict)
    pipeline: tuple[PipelineStageProfiled, ...] = ()
    busiest: tuple[BusyProfiled, ...] = ()
    left_out: tuple[str, ...] = ()
    reason: str = ""

    @classmethod
    def told(cls, profile: Profile, **batch: object) -> Self:
        """Return a profile as it travels, beside what its batch was."""
        return cls.model_validate(
            {
                "stages": {key: StageProfiled.of(found) for key, found in profile.stages.items()},
                "pipeline": [
                    PipelineStageProfiled(
                        pipeline_rank=each.pipeline_rank,
                        stage=each.stage,
                        compute_s=each.compute_s,
                    )
                    for each in profile.pipeline
                ],
                "busiest": [
                    BusyProfiled(name=name[:400], seconds=seconds)
                    for name, seconds in profile.busiest
                ],
                **batch,
            }
        )


class ProfileOrder(Message):
    """A request to profile both stacks of an incident, one pass each, and why.

    condition_key: in which of its cells; None for the one that moved most.
    """

    why: Words
    who: Person | None = None
    condition_key: Key | None = None


class StageChecked(Message):
    """What was estimated of a stage's messages beside what was profiled, seconds of one pass.

    ratio: the estimate over what was profiled.
    """

    estimated_s: NonNegativeFloat
    profiled_s: NonNegativeFloat
    ratio: NonNegativeFloat | None


class ProfileArm(Message):
    """One stack of a profiled pair. state: of its job. seen: null until it was profiled.

    checked: the estimate beside it, by stage. traces: for a trace viewer. reason: why it is not
    there, or why nothing is estimated.
    """

    stack: StackNamed
    state: str
    run_id: UUID | None
    seen: ProfileSeen | None
    checked: dict[Stage, StageChecked] = Field(default_factory=dict)
    traces: tuple[ArtefactRead, ...] = ()
    reason: str = ""


class ProfileRead(Message):
    """Both stacks of an incident under the profiler, in one cell and on one host; never judged."""

    incident_id: UUID
    session_id: UUID
    condition_key: Key
    title: str
    host: str | None
    asked_by: str
    asked_at: AwareDatetime
    why: str
    arms: tuple[ProfileArm, ...]
