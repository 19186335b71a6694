"""Traces of torch's profiler as SGLang writes them, and the batch that they are of."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from runners.benchmarks.profile import NO_DEVICE, Batch, NotProfiledError, batch_of, profiled
from runners.benchmarks.server import Server
from runners.benchmarks.trace import TraceError, track_of, tracks_in
from runners.stacks.profiling import PLUGIN, with_profiling
from service.domain.profile import Stage
from service.formats.profiles import ARTEFACT, ProfileSeen
from tests.runner_orders import condition

MICRO = 1e6
BATCH = Batch(sequences=2, input_tokens=8, output_tokens=6)


def event(name: str, begin_s: float, seconds: float, cat: str = "cpu_op") -> Mapping[str, Any]:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 7,
        "tid": 9 if name.startswith("gloo") else 8,
        "ts": begin_s * MICRO,
        "dur": seconds * MICRO,
    }


def passes(*, messages: str = "cpu_op") -> Sequence[Mapping[str, Any]]:
    """Return a prefill and five tokens, 10 ms each, with one sum in each.

    It is asked for at 4 ms, sent from 4.5 to 5 ms in another thread, and waited for until 5.4 ms.
    """
    found: list[Mapping[str, Any]] = [{"ph": "M", "name": "process_name"}]
    for number in range(6):
        begin = number / 100
        mode = "DECODE bs=2" if number else "EXTEND bs=2 toks=16"
        found.append(event(f"step[{mode}]", begin, 0.008, "user_annotation"))
        found.append(event("aten::mm", begin + 0.001, 0.003))
        found.append(event("c10d::allreduce_", begin + 0.004, 0.0001))
        found.append(event("gloo:all_reduce", begin + 0.0045, 0.0005, messages))
        found.append(event("aten::add", begin + 0.0054, 0.0001))
    return found


def packed(events: Sequence[Mapping[str, Any]]) -> bytes:
    return gzip.compress(json.dumps({"traceEvents": list(events)}).encode())


def test_a_message_lasts_from_when_it_was_asked_for_until_its_thread_goes_on() -> None:
    track = track_of(packed(passes()), "1764.5-TP-1-PP-2.trace.json.gz")

    assert (track.tensor_rank, track.pipeline_rank, track.on_device) == (1, 2, False)
    assert [step.stage for step in track.steps] == [Stage.PREFILL, *[Stage.DECODE] * 5]
    assert {span.name for span in track.messages} == {"gloo:all_reduce"}
    assert [span.seconds for span in track.messages] == pytest.approx([0.0014] * 6)
    assert track.own_s["aten::mm"] == pytest.approx(0.018)
    assert track.own_s["step[DECODE], outside of any operator"] == pytest.approx(5 * 0.0048)


def test_what_was_sent_while_its_thread_went_on_was_not_waited_for() -> None:
    beside = event("aten::mul", 0.0047, 0.0001)

    track = track_of(packed([*passes(), beside]), "1-TP-0.trace.json.gz")

    assert [span.seconds for span in track.messages] == pytest.approx([0.001, *[0.0014] * 5])


def test_where_not_every_message_was_seen_to_be_asked_for_its_sending_is_told_alone() -> None:
    events = [each for each in passes() if each.get("ts") != 0.004 * MICRO]

    track = track_of(packed(events), "1-TP-0.trace.json.gz")

    assert [span.seconds for span in track.messages] == pytest.approx([0.0005] * 6)


def test_where_a_card_tells_its_kernels_only_they_are_messages() -> None:
    track = track_of(packed(passes(messages="kernel")), "1-TP-0.trace.json.gz")

    assert track.on_device
    assert len(track.messages) == 6
    assert set(track.own_s) == {"gloo:all_reduce"}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"no archive", id="no archive"),
        pytest.param(gzip.compress(b"{}"), id="no events"),
        pytest.param(gzip.compress(b"[1,"), id="half a text"),
    ],
)
def test_what_is_no_trace_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(TraceError, match="is no trace"):
        track_of(content, "x.trace.json.gz")


class FakeServer:
    """A server whose profiler writes the traces that it is given when it is stopped."""

    def __init__(self, traces: Mapping[str, bytes]) -> None:
        self.traces, self.asked = traces, list[str]()
        self.folder = Path()

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if request.url.path == "/start_profile":
            self.folder = Path(json.loads(request.content)["output_dir"])
        if request.url.path == "/stop_profile":
            for name, content in self.traces.items():
                (self.folder / name).write_bytes(content)
        if request.url.path == "/generate":
            prompts = json.loads(request.content)["input_ids"]
            return httpx.Response(200, json=[{"text": ""} for _ in prompts])
        return httpx.Response(200, text="Start profiling.\n")

    def server(self) -> Server:
        transport = httpx.MockTransport(self.answer)
        return Server(httpx.Client(transport=transport, base_url="http://server"))


def test_a_batch_passes_for_its_first_tokens_and_then_whole_under_the_profiler(
    tmp_path: Path,
) -> None:
    traces = {f"17-TP-{rank}.trace.json.gz": packed(passes()) for rank in range(2)}
    fake = FakeServer(traces)

    texts = profiled(fake.server(), BATCH, tmp_path / "cell", ranks=2, on_cards=False)

    assert fake.asked == [
        *("/generate", "/flush_cache", "/start_profile", "/generate", "/flush_cache"),
        *("/generate", "/stop_profile"),
    ]
    seen = ProfileSeen.model_validate_json(texts[ARTEFACT])
    assert seen.stages[Stage.DECODE].share == pytest.approx(0.14)
    assert seen.stages[Stage.DECODE].waiting_s == pytest.approx(0, abs=1e-9)
    assert {name: texts[f"profile-{name}"] for name in traces} == traces
    assert len(tracks_in(tmp_path / "cell")) == 2


def test_a_profiler_that_saw_no_kernel_of_a_card_tells_nothing_of_messages(tmp_path: Path) -> None:
    fake = FakeServer({"17-TP-0.trace.json.gz": packed(passes())})

    texts = profiled(fake.server(), BATCH, tmp_path / "cell", ranks=1, on_cards=True)

    seen = ProfileSeen.model_validate_json(texts[ARTEFACT])
    assert (seen.stages, seen.reason) == ({}, NO_DEVICE)


def test_a_trace_that_cannot_be_read_is_no_profile(tmp_path: Path) -> None:
    fake = FakeServer({"17-TP-0.trace.json.gz": b"half"})

    with pytest.raises(NotProfiledError, match="is no trace"):
        profiled(fake.server(), BATCH, tmp_path / "cell", ranks=1, on_cards=False)


def test_a_batch_is_as_full_as_the_load_and_no_longer_than_a_trace_can_hold() -> None:
    asked = batch_of(condition(concurrency=4, input_tokens=128, output_tokens=512))
    open_load = batch_of(condition(concurrency=None, output_tokens=8))

    assert asked == Batch(sequences=4, input_tokens=128, output_tokens=32)
    assert (open_load.sequences, open_load.output_tokens) == (1, 8)


def test_the_plugin_is_found_beside_what_a_server_has_already(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"release": "3.11.9", "path": "/upstream/python"}\'\n')
    python.chmod(0o755)

    variables = with_profiling({"SGLANG_PLUGINS": "kunlun_hooks"}, python, folder=tmp_path)

    beside, _, before = variables["PYTHONPATH"].partition(":")
    assert before == "/upstream/python"
    assert (Path(beside) / f"{PLUGIN}.py").is_file()
    entry = Path(beside, f"{PLUGIN}-1.dist-info", "entry_points.txt").read_text(encoding="utf-8")
    assert "[sglang.srt.plugins]" in entry
    assert variables["SGLANG_PLUGINS"] == f"kunlun_hooks,{PLUGIN}"
