"""One profiled pass of a cell: a batch as full as its load, under the server's own profiler."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runners.benchmarks.server import Server, ids
from runners.benchmarks.trace import NAMED, TraceError, tracks_in
from service.domain.condition import Condition
from service.domain.profile import Profile, profile_of
from service.formats.profiles import ARTEFACT, TRACE, ProfileSeen
from service.formats.reports import ARTEFACT_BYTES_MAX

# A trace grows with every pass; so many tell enough of one.
DECODED_TOKENS = 32
# A batch larger than this fills a trace with more of the same.
SEQUENCES_MAX = 256
# Until every rank has written its trace; a large one is packed for minutes.
WRITTEN_LIMIT_S = 600.0
PAUSE_S = 0.25
NO_DEVICE = (
    "the profiler saw no kernel of a card, only what the host asked of it, so nothing is told of "
    "messages: this stack's torch does not hand its cards' activities to torch's profiler"
)


class NotProfiledError(RuntimeError):
    """The server's profiler was asked, and left no traces that tell anything."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is sent: fixed prompts, all alike in length."""

    sequences: int
    input_tokens: int
    output_tokens: int

    def send(self, server: Server, *, output_tokens: int, start: int) -> float:
        """Send it once and return how long the answer took, in seconds. start: other prompts."""
        prompts = [ids(self.input_tokens, start=start + row) for row in range(self.sequences)]
        began = time.monotonic()
        server.generate(prompts, output_tokens=output_tokens)
        return time.monotonic() - began


def batch_of(condition: Condition) -> Batch:
    """Return a batch as full as a condition's load, and no longer than a trace can hold."""
    traffic = condition.traffic
    return Batch(
        sequences=min(traffic.concurrency or 1, SEQUENCES_MAX),
        input_tokens=traffic.input_tokens,
        output_tokens=min(traffic.output_tokens, DECODED_TOKENS),
    )


def profiled(
    server: Server, batch: Batch, folder: Path, *, ranks: int, on_cards: bool
) -> Mapping[str, bytes]:
    """Return what a profiled batch told, and its traces, as texts by name.

    folder: of this batch alone; a server in an image sees it under the same path. ranks: how many
    write a trace. on_cards: whether messages are kernels of cards, which a trace of the host alone
    does not hold. The batch is sent once before, so that nothing is compiled under the profiler;
    then for its first token alone, then whole.
    Raises ServerSilentError, ServerRefusedError and NotProfiledError.
    """
    folder.mkdir(parents=True)
    batch.send(server, output_tokens=batch.output_tokens, start=0)
    server.flush()
    server.start_profile(str(folder))
    first_token_s = batch.send(server, output_tokens=1, start=0)
    server.flush()
    batch.send(server, output_tokens=batch.output_tokens, start=0)
    server.stop_profile()
    traces = _written(folder, ranks)
    try:
        tracks = tracks_in(folder)
    except TraceError as error:
        raise NotProfiledError(str(error)) from error
    blind = on_cards and not any(track.on_device for track in tracks)
    kept = {name: text for name, text in traces.items() if len(text) <= ARTEFACT_BYTES_MAX}
    seen = ProfileSeen.told(
        Profile({}, (), ()) if blind else profile_of(tracks),
        ranks=len(tracks),
        sequences=batch.sequences,
        input_tokens=batch.input_tokens,
        output_tokens=batch.output_tokens,
        first_token_s=first_token_s,
        left_out=tuple(sorted(traces.keys() - kept.keys())),
        reason=NO_DEVICE if blind else "",
    )
    return {ARTEFACT: seen.model_dump_json(indent=1).encode(), **kept}


def _written(folder: Path, ranks: int) -> Mapping[str, bytes]:
    """Return the traces of all ranks once they do not grow any more. Raises NotProfiledError."""
    deadline = time.monotonic() + WRITTEN_LIMIT_S
    before: Mapping[Path, int] = {}
    while True:
        sizes = {path: path.stat().st_size for path in folder.glob(NAMED)}
        if len(sizes) >= ranks and sizes == before:
            return {f"{TRACE}{path.name}": path.read_bytes() for path in sizes}
        if time.monotonic() > deadline:
            raise NotProfiledError(
                f"{len(sizes)} of {ranks} traces were written into {folder} within "
                f"{WRITTEN_LIMIT_S:.0f} s"
            )
        before = sizes
        time.sleep(PAUSE_S)
