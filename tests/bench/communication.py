"""The estimated share of TPOT that is communication, beside a profiled one.

`python -m tests.bench.communication` prints both: a real SGLang on two ranks of this CPU, over
gloo. The curve is measured first, as preflight does; then a batch is decoded unprofiled for its
TPOT, and once more under SGLang's own profiler, whose spans of the collectives are added up.
Exit code 1 when the estimate is off by more than the factor.
"""

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from runners.devices.cpu import CpuDevice
from runners.preflight.capacity import config_of
from runners.preflight.measured import MeasuredPython
from runners.stacks.kept import tail
from runners.stacks.server import Launch, serving
from runners.stacks.tiny_model import TinyLlama, made
from service.domain.communication import Curve, Phase, Shape, decoding
from service.formats.matrix_files import read_matrix
from tests.e2e.p800_site import real_python

FACTOR = 1.5
RANKS = 2
MATRIX = Path(__file__).parents[2] / "matrix"
# What the profiler calls them; its spans lie in the threads that move the bytes.
SPANS = ("gloo:all_reduce", "gloo:all_gather", "gloo:_all_gather_base", "gloo:allgather")


@dataclass(frozen=True, slots=True)
class Asked:
    """A batch of prompts, and how many tokens each answers."""

    batch: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Seen:
    """tpot_s: of an unprofiled batch. spans: seconds of each collective. window_s: profiled."""

    tpot_s: float
    spans: Sequence[float]
    window_s: float

    @property
    def share(self) -> float:
        """The profiled share of communication."""
        return sum(self.spans) / self.window_s


def main() -> int:
    """Measure, print and say whether the estimate holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=96, help="that each prompt answers")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args()
    asked = Asked(given.batch, 64, given.tokens)
    with tempfile.TemporaryDirectory() as folder:
        told = measured(asked, _model(given.hidden, given.layers, Path(folder)), Path(folder))
    print(json.dumps(told, indent=2) if given.json else _sentence(told))  # noqa: T201 — the answer
    return 0 if 1 / FACTOR <= told["estimated_over_profiled"] <= FACTOR else 1


def _model(hidden: int, layers: int, folder: Path) -> Path:
    shape = read_matrix(MATRIX).models.named("tiny-llama").shape
    maker = {name: int(value) for name, value in (shape.maker or {}).items() if name != "kind"}
    return made(TinyLlama(**{**maker, "hidden": hidden, "layers": layers}), cache=folder)


def measured(asked: Asked, model: Path, folder: Path) -> Mapping[str, Any]:
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
        variables=variables,
        log=folder / "server.log",
    )
    with serving(launch, inherited=os.environ, start_limit_s=300) as server:
        try:
            seen = _seen(server.base_url, asked, folder)
        except httpx.HTTPError:
            sys.stderr.write(tail(launch.log, lines=300, reach_bytes=200_000))
            raise
    config = config_of(model)
    shape = Shape(config["hidden_size"], config["num_hidden_layers"], config["vocab_size"], 4)
    phase = decoding(shape, Curve(curve), sequences=asked.batch, ranks=RANKS)
    return _told(phase, seen, curve)


def _seen(url: str, asked: Asked, folder: Path) -> Seen:
    with httpx.Client(base_url=url, timeout=600, trust_env=False) as http:
        _batch(http, asked, asked.output_tokens)
        whole = median(_batch(http, asked, asked.output_tokens) for _ in range(3))
        first = median(_batch(http, asked, 1) for _ in range(3))
        profile = {
            "output_dir": str(folder),
            "activities": ["CPU"],
            "with_stack": False,
            "record_shapes": False,
        }
        http.post("/start_profile", json=profile).raise_for_status()
        _batch(http, asked, asked.output_tokens)
        http.post("/stop_profile").raise_for_status()
    spans, window_s = _profiled(folder)
    return Seen((whole - first) / (asked.output_tokens - 1), spans, window_s)


def _batch(http: httpx.Client, asked: Asked, output_tokens: int) -> float:
    """Send one batch and return how long it took, in seconds."""
    rows = [
        [1 + (row + at) % 500 for at in range(asked.input_tokens)] for row in range(asked.batch)
    ]
    body = {
        "input_ids": rows,
        "sampling_params": {
            "temperature": 0,
            "max_new_tokens": output_tokens,
            "ignore_eos": True,
        },
    }
    http.post("/flush_cache").raise_for_status()
    began = time.perf_counter()
    http.post("/generate", json=body).raise_for_status()
    return time.perf_counter() - began


def _profiled(folder: Path) -> tuple[Sequence[float], float]:
    """Return the collectives' spans of rank 0 between its first and its last, and that time.

    The prefill's, which are larger and come first, are left out with the first twentieth.
    """
    deadline = time.monotonic() + 120
    while not (traces := sorted(folder.rglob("*TP-0*.trace.json.gz"))):
        if time.monotonic() > deadline:
            raise TimeoutError(f"the profiler wrote no trace into {folder}")
        time.sleep(0.5)
    time.sleep(2)
    events = json.loads(gzip.decompress(traces[0].read_bytes()))["traceEvents"]
    spans = [each for each in events if each.get("ph") == "X" and each.get("name") in SPANS]
    if not spans:
        names = sorted(
            {str(each.get("name")) for each in events if "gloo" in str(each.get("name"))}
        )
        raise LookupError(f"no span of a collective in the trace; of gloo there are {names}")
    spans.sort(key=lambda each: float(each["ts"]))
    kept = spans[len(spans) // 20 :]
    window = float(kept[-1]["ts"]) + float(kept[-1]["dur"]) - float(kept[0]["ts"])
    return [float(each["dur"]) / 1e6 for each in kept], window / 1e6


def _told(phase: Phase, seen: Seen, curve: Mapping[int, float]) -> Mapping[str, Any]:
    estimated = phase.share_of(seen.tpot_s)
    return {
        "message_bytes": phase.volume.message_bytes,
        "messages_of_a_pass": phase.volume.sums,
        "kind": phase.kind,
        "estimated_s": phase.seconds,
        "tpot_s": seen.tpot_s,
        "estimated_share": estimated,
        "profiled_share": seen.share,
        "profiled_span_s": median(seen.spans),
        "spans": len(seen.spans),
        "estimated_over_profiled": estimated / seen.share,
        "curve_s": {str(size): seconds for size, seconds in curve.items()},
    }


def _sentence(told: Mapping[str, Any]) -> str:
    return (
        f"estimated {told['estimated_share']:.3f} of TPOT ({told['tpot_s'] * 1e3:.2f} ms), "
        f"profiled {told['profiled_share']:.3f} over {told['spans']} collectives: "
        f"{told['estimated_over_profiled']:.2f} of it"
    )


if __name__ == "__main__":
    sys.exit(main())
