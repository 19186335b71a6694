"""How well the screen sees, and what it costs: `python -m tests.bench.screen` prints both.

The figures are those of the evaluation harness beside the checkout (../shared/tools/detect), by
its own scoring, each with the standard error that drawing its episodes anew gives. Exit code 1
where a floor is missed or the harness is not there.
"""

import argparse
import gzip
import importlib.util
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, stdev
from types import ModuleType
from typing import Any

import numpy as np

from service.domain.event import Event
from service.domain.metric import Better
from service.domain.screen import Watch, Watched, least_of, look, watch
from service.stats.screen import EVERY

ROOT = Path(__file__).parents[2]
HARNESS = ROOT.parent / "shared" / "tools" / "detect"
REDRAWS = 200
# Of each suite: a figure, the floor it is held to, and whether more is better.
FLOORS = {
    "hist": {
        "false_per_1000": (1.3, False),
        "recall_3": (0.50, True),
        "recall_5": (0.74, True),
        "recall_10": (0.87, True),
        "recall_2_sigma": (0.93, True),
        "f1": (0.72, True),
        "delay": (5, False),
    },
    "real": {"false_per_1000": (1.5, False), "f1": (0.83, True), "delay": (4, False)},
    "matrix": {
        "false_per_1000": (3, False),
        "one_3": (0.25, True),
        "some_3": (0.78, True),
        "all_3": (0.86, True),
        "delay": (6, False),
    },
}
COST_MS = 0.1
COST_8000_S = 1.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What was scored of one episode: changes as (words about it, delay or None)."""

    false: int
    exposure: int
    changes: tuple[tuple[frozenset[str], int | None], ...]


def main() -> int:
    """Print every suite's figures beside their floors, then the costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="hist,real,matrix,ab,tcpd", help="comma-separated")
    parser.add_argument("--split", default="open", help="a folder of the harness")
    asked = parser.parse_args()
    if not HARNESS.is_dir():
        sys.stderr.write("the evaluation harness is not at ../shared/tools/detect\n")
        return 1
    scoring = _loaded(HARNESS / "lib" / "scoring.py")
    suites = asked.suite.split(",")
    held = [_suite(scoring, asked.split, suite) for suite in suites if suite in FLOORS]
    others = ",".join(suite for suite in suites if suite not in FLOORS)
    if others:
        _by_harness(asked.split, others)
    held.append(_costs())
    return 0 if all(held) else 1


def _suite(scoring: ModuleType, split: str, suite: str) -> bool:
    began = time.process_time()
    episodes = _episodes(split, suite)
    seen = [_seen(scoring, episode) for episode in episodes]
    figures = _figures(seen)
    errors = _errors(seen)
    _say(f"{suite}: {len(seen)} episodes, {time.process_time() - began:.0f} s")
    held = True
    for name, value in figures.items():
        floor, more = FLOORS[suite].get(name, (None, True))
        met = floor is None or (value >= floor if more else value <= floor)
        held &= met
        told = "" if floor is None else f"  floor {floor}{'' if met else '  MISSED'}"
        _say(f"  {name:16} {value:7.3f} ± {errors[name]:.3f}{told}")
    return held


def _figures(seen: Sequence[Seen]) -> dict[str, float]:
    changes = [change for each in seen for change in each.changes]
    found = [delay for _, delay in changes if delay is not None]
    false = sum(each.false for each in seen)
    words = sorted({word for about, _ in changes for word in about if word != "step"})
    figures = {"false_per_1000": 1000 * false / max(1, sum(each.exposure for each in seen))}
    for word in words:
        of = [delay is not None for about, delay in changes if word in about]
        figures[word] = sum(of) / len(of)
    precision = len(found) / max(1, len(found) + false)
    recall = len(found) / max(1, len(changes))
    figures["f1"] = 2 * precision * recall / max(1e-9, precision + recall)
    steps = [delay for about, delay in changes if "step" in about and delay is not None]
    figures["delay"] = float(median(steps)) if steps else float("inf")
    return figures


def _errors(seen: Sequence[Seen]) -> Mapping[str, float]:
    draw = random.Random(0)
    drawn = [_figures(draw.choices(seen, k=len(seen))) for _ in range(REDRAWS)]
    names = _figures(seen)
    return {name: stdev(each[name] for each in drawn if name in each) for name in names}


def _seen(scoring: ModuleType, episode: Mapping[str, Any]) -> Seen:
    series = tuple(_watched(episode))
    matrix = len(series) > 1
    alarms = [
        (event.seen - 1, event.change_run, 1 if event.worse else -1)
        for event in _events(watch(series), episode["values"])
    ]
    truths = _truths(scoring, episode, series, matrix=matrix)
    ignored = [tuple(pair) for pair in episode.get("ignore", [])]
    runs = len(episode["values"][0])
    scored = scoring.score_series(alarms, truths, runs, ignore=ignored)
    changes = tuple(
        (_words(episode, truth, matrix=matrix), None if found is None else found[0])
        for truth, found in zip(truths, scored["det"], strict=True)
    )
    return Seen(len(scored["fp"]), scored["exposure"], changes)


def _truths(
    scoring: ModuleType, episode: Mapping[str, Any], series: Sequence[Watched], *, matrix: bool
) -> list[dict[str, Any]]:
    """Return the changes to be found, turned so that 1 is worse; of a matrix, the first cell's."""
    cell = episode["truth"][0]["cell"] if episode["truth"] else 0
    truths: list[dict[str, Any]] = scoring.episode_truth(episode, cell)
    for truth in truths:
        truth["dir"] *= series[cell].sign
    warm = 0 if matrix else scoring.WARM
    return [truth for truth in truths if truth["c"] >= warm]


def _words(episode: Mapping[str, Any], truth: Mapping[str, Any], *, matrix: bool) -> frozenset[str]:
    if matrix:
        return frozenset({"step", f"{episode['scope']}_{episode['pct']}"})
    if truth["type"] != "step":
        return frozenset({"drift"})
    size = truth["pct"]
    words = {"step"}
    if size in {1, 2, 3, 5, 10, 20}:
        words.add(f"recall_{size:g}")
    if size / 100 >= 2 * episode["sigma"]:
        words.add("recall_2_sigma")
    return frozenset(words)


def _events(watched: Watch, values: Sequence[Sequence[float]]) -> Iterator[Event]:
    for run in zip(*values, strict=True):
        watched, events = look(watched, [value if value > 0 else None for value in run])
        yield from events


def _watched(episode: Mapping[str, Any]) -> Iterator[Watched]:
    for number, cell in enumerate(episode["cells"]):
        better = Better.LOWER if cell["lower_is_better"] else Better.HIGHER
        yield Watched(str(number), cell["metric"], better, least_of(cell["metric"]))


def _episodes(split: str, suite: str) -> list[dict[str, Any]]:
    with gzip.open(HARNESS / split / f"{suite}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def _by_harness(split: str, suites: str) -> None:
    command = f"{Path(sys.executable).parent / 'kunline'} detect --protocol"
    evaluate = [sys.executable, str(HARNESS / "evaluate.py"), "--split", split, "--suite", suites]
    subprocess.run([*evaluate, "--cmd", command], check=True, timeout=3600)


def _costs() -> bool:
    alone = _milliseconds(1, rounds=400)
    cell = _milliseconds(24, rounds=200) / 24
    night = _milliseconds(8000, rounds=3) / 1000
    _say(
        f"cost: {alone:.3f} ms a run of one series alone, {cell:.3f} ms a cell and run of 24 "
        f"(floor {COST_MS}), {night:.2f} s for 1,000 cells of 8 metrics (floor {COST_8000_S})"
    )
    return cell <= COST_MS and night <= COST_8000_S


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _milliseconds(count: int, *, rounds: int) -> float:
    """Return what one run of so many series costs, from its values to its events.

    It is the least of some rounds; a round is as many runs as one level serves.
    """
    metrics = ("ttft_p50", "tpot_p50", "output_throughput")
    state = watch(
        Watched(str(number), metrics[number % 3], Better.LOWER, 0.0075) for number in range(count)
    )
    noise = np.exp(np.random.default_rng(0).standard_normal((110, count)) * 0.01).tolist()
    for row in noise:
        state, _ = look(state, row)

    def few_runs() -> None:
        later = state
        for row in noise[:EVERY]:
            later, _ = look(later, row)

    return 1000 * min(_seconds(few_runs) for _ in range(rounds)) / EVERY


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
