"""The estimated share of TPOT and TTFT that is communication, beside a profiled one.

`python -m tests.bench.communication` prints both: a real SGLang on two ranks of this CPU, over
gloo. The curve is measured first, as preflight does; then batches are sent unprofiled for their
times, and once more under SGLang's own profiler, as `kunline incident profile` does. Each shape is
a server of its own. Exit code 1 when the estimated share of TPOT is off by more than the factor.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from runners.benchmarks.profile import Batch, profiled
from runners.benchmarks.server import Server, asked
from runners.devices.cpu import CpuDevice
from runners.preflight.capacity import config_of
from runners.preflight.measured import MeasuredPython
from runners.stacks.kept import tail
from runners.stacks.profiling import with_profiling
from runners.stacks.server import Launch, serving
from runners.stacks.tiny_model import TinyLlama, made
from service.domain.communication import Curve, Shape, decoding, prefill
from service.domain.profile import Stage
from service.formats.matrix_files import read_matrix
from service.formats.profiles import ARTEFACT, ProfileSeen
from tests.e2e.p800_site import real_python

FACTOR = 1.5
RANKS = 2
REPEATS = 3
MATRIX = Path(__file__).parents[2] / "matrix"
# Hidden size, layers, requests in flight, tokens of a prompt.
SHAPES = ((256, 4, 8, 64), (512, 8, 8, 64), (1024, 4, 1, 256), (1024, 4, 16, 128))
OUTPUT_TOKENS = 33


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of an unprofiled batch: until its first tokens, and of each token after."""

    ttft_s: float
    tpot_s: float


def main() -> int:
    """Measure, print and say whether the estimates hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--shape",
        action="append",
        metavar="HIDDEN,LAYERS,BATCH,INPUT",
        help="instead of those of the list; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document a shape")
    parser.add_argument("--keep", type=Path, help="a folder in which traces and logs are left")
    given = parser.parse_args()
    listed = [tuple(map(int, each.split(","))) for each in given.shape or ()] or SHAPES
    factors = []
    for hidden, layers, sequences, length in listed:
        with tempfile.TemporaryDirectory() as scratch:
            folder = given.keep / f"{hidden}-{layers}-{sequences}" if given.keep else Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            batch = Batch(sequences, length, OUTPUT_TOKENS)
            told = measured(batch, _model(hidden, layers, Path(scratch)), folder)
        factors.append(told["decode"]["estimated_over_profiled"])
        sys.stdout.write((json.dumps(told) if given.json else _sentence(told)) + "\n")
        sys.stdout.flush()
    return 0 if all(1 / FACTOR <= each <= FACTOR for each in factors) else 1


def _model(hidden: int, layers: int, folder: Path) -> Path:
    shape = read_matrix(MATRIX).models.named("tiny-llama").shape
    maker = {name: int(value) for name, value in (shape.maker or {}).items() if name != "kind"}
    return made(TinyLlama(**{**maker, "hidden": hidden, "layers": layers}), cache=folder)


def measured(batch: Batch, model: Path, folder: Path) -> Mapping[str, Any]:
    """Return the estimate and what was profiled."""
    python, device = real_python(MATRIX), CpuDevice()
    variables = device.environment(device.cards()[:RANKS])
    curve: dict[int, float] = {}
    inside = MeasuredPython(python, {**os.environ, **variables})
    inside.collectives(RANKS, 120, probe=device.probe(), heard=curve.update)
    launch = Launch(
        python=python,
        model=model,
        served_name="tiny",
        arguments={
            **read_matrix(MATRIX).models.named("tiny-llama").shape.server.arguments,
            "tp-size": RANKS,
        },
        variables=with_profiling(variables, python, folder=folder),
        log=folder / "server.log",
    )
    with (
        serving(launch, inherited=os.environ, start_limit_s=300) as server,
        asked(server.base_url, limit_s=600) as asking,
    ):
        try:
            times = _times(asking, batch)
            texts = profiled(asking, batch, folder / "traces", ranks=RANKS, on_cards=False)
        except (ConnectionError, ValueError):
            sys.stderr.write(tail(launch.log, lines=300, reach_bytes=200_000))
            raise
    seen = ProfileSeen.model_validate_json(texts[ARTEFACT])
    config = config_of(model)
    shape = Shape(config["hidden_size"], config["num_hidden_layers"], config["vocab_size"], 4)
    return _told(shape, Curve(curve), batch, times, seen)


def _times(server: Server, batch: Batch) -> Times:
    """Return the medians of a few batches; the first one warms up and does not count."""
    batch.send(server, output_tokens=batch.output_tokens, start=0)
    first, whole = [], []
    for _ in range(REPEATS):
        server.flush()
        first.append(batch.send(server, output_tokens=1, start=0))
        server.flush()
        whole.append(batch.send(server, output_tokens=batch.output_tokens, start=0))
    ttft_s = median(first)
    return Times(ttft_s, (median(whole) - ttft_s) / (batch.output_tokens - 1))


def _told(
    shape: Shape, curve: Curve, batch: Batch, times: Times, seen: ProfileSeen
) -> Mapping[str, Any]:
    decode = decoding(shape, curve, sequences=batch.sequences, ranks=RANKS)
    tokens = batch.sequences * batch.input_tokens
    whole = prefill(shape, curve, tokens=tokens, sequences=batch.sequences, chunk=None, ranks=RANKS)
    found, filled = seen.stages[Stage.DECODE], seen.stages[Stage.PREFILL]
    filling_s = filled.message_s * filled.passes / 2
    return {
        "shape": [shape.hidden, shape.layers, batch.sequences, batch.input_tokens],
        "decode": {
            **_beside(decode.seconds / times.tpot_s, found.share),
            "tpot_s": times.tpot_s,
            "profiled_pass_s": found.pass_s,
            "estimated_s": decode.seconds,
            "profiled_s": found.message_s,
            "waiting_s": found.waiting_s,
            "other_s": found.other_s,
            "messages_estimated": decode.volume.sums + 1,
            "messages_profiled": found.messages,
        },
        "prefill": {
            **_beside(whole.seconds / times.ttft_s, filling_s / seen.first_token_s),
            "ttft_s": times.ttft_s,
            "profiled_ttft_s": seen.first_token_s,
            "estimated_s": whole.seconds,
            "profiled_s": filling_s,
            "waiting_s": filled.waiting_s,
            "passes_of_a_batch": filled.passes / 2,
        },
        # Beside two busy ranks; much above them, others had the cores meanwhile.
        "load": os.getloadavg()[0],
        "curve_s": {str(size): seconds for size, seconds in curve.seconds.items()},
        "busiest": [[each.name, each.seconds] for each in seen.busiest],
    }


def _beside(estimated: float, profiled_share: float) -> dict[str, float]:
    return {
        "estimated_share": estimated,
        "profiled_share": profiled_share,
        "estimated_over_profiled": estimated / profiled_share,
    }


def _sentence(told: Mapping[str, Any]) -> str:
    parts = [
        f"{name} ({1e3 * told[stage][whole]:.2f} ms): estimated "
        f"{told[stage]['estimated_share']:.3f}, profiled {told[stage]['profiled_share']:.3f}, "
        f"{told[stage]['estimated_over_profiled']:.2f} of it"
        for name, stage, whole in (("TPOT", "decode", "tpot_s"), ("TTFT", "prefill", "ttft_s"))
    ]
    hidden, layers, sequences, length = told["shape"]
    head = f"hidden {hidden}, {layers} layers, batch {sequences} of {length} tokens"
    return f"{head}: {'; '.join(parts)}"


if __name__ == "__main__":
    sys.exit(main())
