"""What a profiled pass tells of a server: how long its passes are, and what of it is messages.

Whoever profiles slows down what is profiled, so nothing here is a measurement and nothing of it is
judged. It checks an estimate, and says where time goes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from statistics import median

# The sums and gathers of a layout, by whichever library: c10d's own names, and those of kernels.
_MESSAGE = re.compile(r"all_?(reduce|gather|to_?all)|reduce_?scatter", flags=re.IGNORECASE)
# The scheduler's own: requests told to the other ranks, and what pipeline stages hand on.
_OTHER_MESSAGE = re.compile(r"broadcast|barrier|:send|:recv|sendrecv", flags=re.IGNORECASE)
# A run of decoding is looked at from its second pass on: the first may still wait for a prefill.
LEAST_DECODES = 3
BUSIEST = 12
# Traces tell microseconds since the epoch, of which a float keeps a quarter.
ROUNDING_S = 5e-7


class Stage(StrEnum):
    """What a pass of the model is for."""

    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took a while. begin_s: on a clock that is the same for one rank."""

    name: str
    begin_s: float
    seconds: float

    @property
    def end_s(self) -> float:
        """When it was over."""
        return self.begin_s + self.seconds


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of the model, as the server names it."""

    stage: Stage
    span: Span


@dataclass(frozen=True, slots=True)
class Track:
    """What one rank did. own_s: seconds by name, each without what is named within it.

    on_device: whether spans are those of a card, which runs behind what the host asked of it.
    """

    tensor_rank: int
    pipeline_rank: int
    steps: Sequence[Step]
    spans: Sequence[Span]
    own_s: Mapping[str, float]
    on_device: bool = False

    @property
    def messages(self) -> list[Span]:
        """The sums and gathers over the cards, in their order."""
        found = (span for span in self.spans if _MESSAGE.search(span.name))
        return sorted(found, key=lambda span: span.begin_s)

    @property
    def other_messages(self) -> list[Span]:
        """What else ranks told each other."""
        return [
            span
            for span in self.spans
            if _OTHER_MESSAGE.search(span.name) and not _MESSAGE.search(span.name)
        ]


@dataclass(frozen=True, slots=True)
class StageProfile:
    """The passes of one stage, each figure of one pass.

    pass_s: from the begin of a pass to that of the next, or of a prefill to its end. messages: how
    many. message_s: in them, without waiting_s for the slowest rank to come to them (None where
    the ranks' messages cannot be put beside each other: it is then in message_s). other_s: in what
    the scheduler itself told.
    """

    passes: int
    pass_s: float
    messages: float
    message_s: float
    waiting_s: float | None
    other_s: float

    @property
    def share(self) -> float:
        """The part of a pass that is communication."""
        return self.message_s / self.pass_s


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """How long one stage of a pipeline computes in a pass, messages left out."""

    pipeline_rank: int
    stage: Stage
    compute_s: float


@dataclass(frozen=True, slots=True)
class Profile:
    """What all tracks tell together. busiest: seconds of the first rank, the most first."""

    stages: Mapping[Stage, StageProfile]
    pipeline: tuple[PipelineStage, ...]
    busiest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of passes of one stage. steps: those that lie wholly in it."""

    begin_s: float
    end_s: float
    steps: Sequence[Step]

    def holds(self, span: Span) -> bool:
        return self.begin_s <= span.begin_s < self.end_s


def profile_of(tracks: Sequence[Track]) -> Profile:
    """Return what the tracks of all ranks tell. Nothing is told of a stage that no step is of."""
    ordered = sorted(tracks, key=lambda track: (track.pipeline_rank, track.tensor_rank))
    by_stage = [list(of) for _, of in groupby(ordered, key=lambda track: track.pipeline_rank)]
    stages = {
        stage: found
        for stage in Stage
        if by_stage and (found := _stage(by_stage[0], stage)) is not None
    }
    own = Counter(dict(ordered[0].own_s)) if ordered else Counter()
    return Profile(stages, tuple(_pipeline(by_stage)), tuple(own.most_common(BUSIEST)))


def _stage(ranks: Sequence[Track], stage: Stage) -> StageProfile | None:
    first = ranks[0]
    windows = list(_windows(first, stage))
    passes = sum(len(window.steps) for window in windows)
    seconds = sum(window.end_s - window.begin_s for window in windows)
    if not passes or seconds <= 0:
        return None
    counted = [
        told
        for each, told in zip(first.messages, _without_waiting(ranks), strict=True)
        if any(window.holds(each) for window in windows)
    ]
    message_s = sum(seconds for seconds, _ in counted)
    waiting_s = sum(waited for _, waited in counted)
    others = (each for each in first.other_messages if any(w.holds(each) for w in windows))
    return StageProfile(
        passes=passes,
        pass_s=seconds / passes,
        messages=len(counted) / passes,
        message_s=message_s / passes,
        waiting_s=waiting_s / passes if _are_alike(ranks) else None,
        other_s=sum(each.seconds for each in others) / passes,
    )


def _windows(track: Track, stage: Stage) -> Iterator[_Window]:
    """Yield the stretches of a stage.

    Decoding is told from pass to pass, so that what lies between two belongs to a token. What a
    card does is behind its host by a pass, so a prefill's end there is the begin of the second
    pass after it.
    """
    steps = sorted(track.steps, key=lambda step: step.span.begin_s)
    at = 0
    for of, run in groupby(steps, key=lambda step: step.stage):
        found = list(run)
        at += len(found)
        if of is not stage:
            continue
        if stage is Stage.DECODE:
            if len(found) >= LEAST_DECODES:
                yield _Window(found[1].span.begin_s, found[-1].span.begin_s, found[1:-1])
        else:
            end = _end_on_device(track, steps[at:]) if track.on_device else found[-1].span.end_s
            yield _Window(found[0].span.begin_s, end, found)


def _end_on_device(track: Track, after: Sequence[Step]) -> float:
    if len(after) > 1:
        return after[1].span.begin_s
    return max((span.end_s for span in track.spans), default=0.0)


def _are_alike(ranks: Sequence[Track]) -> bool:
    names = [[span.name for span in track.messages] for track in ranks]
    return len(ranks) > 1 and all(each == names[0] for each in names)


def _without_waiting(ranks: Sequence[Track]) -> list[tuple[float, float]]:
    """Return how long each message took once all had come to it, and the first rank's wait before.

    On a host it takes until the last one goes on, for whoever is held up in it holds up the next.
    A card is not held up, so there it is the shortest span: that of whoever waited for nobody; so
    it is where ranks have no clock in common.
    """
    if not _are_alike(ranks):
        return [(span.seconds, 0.0) for span in ranks[0].messages]
    together = list(zip(*(track.messages for track in ranks), strict=True))
    if not ranks[0].on_device and all(map(_meet, together)):
        last = [max(span.begin_s for span in spans) for spans in together]
        return [
            (max(span.end_s for span in spans) - come, come - spans[0].begin_s)
            for spans, come in zip(together, last, strict=True)
        ]
    least = [min(span.seconds for span in spans) for spans in together]
    return [(each, spans[0].seconds - each) for spans, each in zip(together, least, strict=True)]


def _meet(spans: Sequence[Span]) -> bool:
    """Return whether all came before anyone left, as they must on one clock."""
    return max(span.begin_s for span in spans) <= min(span.end_s for span in spans) + ROUNDING_S


def _pipeline(by_stage: Sequence[Sequence[Track]]) -> Iterator[PipelineStage]:
    """Yield each stage's time, where there is more than one."""
    if len(by_stage) < 2:  # noqa: PLR2004 — one stage is no pipeline
        return
    for first, *_ in by_stage:
        for stage in Stage:
            if seconds := _computing(first, stage):
                yield PipelineStage(first.pipeline_rank, stage, median(seconds))


def _computing(track: Track, stage: Stage) -> list[float]:
    """Return the seconds of each pass on one rank, without the messages in it.

    On a card a pass is what it was busy with until the next one was asked for.
    """
    steps = sorted(track.steps, key=lambda step: step.span.begin_s)
    told = (*track.messages, *track.other_messages)
    found = []
    for at, step in enumerate(steps):
        if step.stage is not stage:
            continue
        if not track.on_device:
            window = _Window(step.span.begin_s, step.span.end_s, ())
            found.append(step.span.seconds - _within(told, window))
        elif at + 1 < len(steps):
            window = _Window(step.span.begin_s, steps[at + 1].span.begin_s, ())
            found.append(_within(track.spans, window) - _within(told, window))
    return found


def _within(spans: Iterable[Span], window: _Window) -> float:
    return sum(span.seconds for span in spans if window.holds(span))


def own_seconds(nested: Iterable[Span]) -> dict[str, float]:
    """Return the seconds of each name without what lies within it. nested: of one thread."""
    own: dict[str, float] = defaultdict(float)
    open_spans: list[Span] = []
    for span in sorted(nested, key=lambda each: (each.begin_s, -each.seconds)):
        while open_spans and open_spans[-1].end_s <= span.begin_s + ROUNDING_S:
            open_spans.pop()
        if open_spans:
            own[open_spans[-1].name] -= span.seconds
        own[span.name] += span.seconds
        open_spans.append(span)
    return dict(own)
