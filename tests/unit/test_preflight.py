"""Preflight: from the metal up, the first layer that breaks names itself and ends the row."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from runners.devices.device import Card, Device, Memory, Probe
from runners.preflight import host, layers, serving
from runners.preflight.card_probe import CardProbes
from runners.preflight.layers import Breaks, Check, Found, Skipped, Works, broken, checked
from runners.preflight.measured import MeasuredPython
from service.domain.condition import Load
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope
from tests.runner_orders import condition

CARDS = (Card(0, "core", "shared"), Card(1, "core", "shared"))


def test_the_first_layer_that_breaks_ends_the_row() -> None:
    asked: list[Layer] = []
    checks = [
        Check(Layer.DEVICE, lambda _: Works("2 cards")),
        Check(Layer.DRIVER, lambda _: Skipped("cpu: none")),
        Check(Layer.MEMORY, lambda _: Breaks("1 GiB free, 2 GiB needed", "end the others")),
        Check(Layer.OPERATOR, lambda _: Works()),
    ]

    findings = checked(checks, before_each=asked.append)

    assert [(finding.layer, finding.state) for finding in findings] == [
        (Layer.DEVICE, "works"),
        (Layer.DRIVER, "skipped"),
        (Layer.MEMORY, "broken"),
    ]
    assert asked == [Layer.DEVICE, Layer.DRIVER, Layer.MEMORY]
    assert broken(findings) is findings[2]
    assert findings[2].remedy == "end the others"


def test_a_check_is_told_its_limit() -> None:
    limits: list[float] = []

    def find(limit_s: float) -> Found:
        limits.append(limit_s)
        return Works()

    assert broken(checked([Check(Layer.OPERATOR, find, limit_s=7.0)])) is None
    assert limits == [7.0]


def test_a_check_that_forgets_its_limit_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "MARGIN_S", 0.1)
    over = Event()

    def hang(_limit_s: float) -> Found:
        over.wait(30)
        return Works()

    found = broken(checked([Check(Layer.MEMORY, hang, limit_s=0.1)]))
    over.set()

    assert found is not None
    assert "was not done after" in found.finding


def test_what_a_check_raises_is_raised_where_it_is_waited_for() -> None:
    def fail(_limit_s: float) -> Found:
        raise LookupError("no such card")

    with pytest.raises(LookupError, match="no such card"):
        checked([Check(Layer.MEMORY, fail)])


def test_a_finding_holds_no_secret() -> None:
    (finding,) = checked([Check(Layer.DEVICE, lambda _: Breaks("asked redis://:pw@host/0"))])

    assert "pw" not in finding.finding


def test_more_cards_asked_for_than_held_is_broken() -> None:
    assert isinstance(host.device("cpu", CARDS, 3), Breaks)
    assert isinstance(host.device("cpu", CARDS, 2), Works)


def test_another_version_than_pinned_is_stack_drift() -> None:
    stack = Stack("s", (Component("torch", "2.13.0+cpu", Layer.PACKAGES, SwapScope.PROCESS),))

    drifted = host.packages(stack, {"torch": "2.14.1"})

    assert drifted == Breaks(
        "torch: 2.13.0+cpu ≠ 2.14.1",
        "build the stack anew, or change the pin if the new version is meant",
    )
    assert isinstance(host.packages(stack, {"torch": "2.13.0+cpu"}), Works)


@dataclass(frozen=True)
class FakeDevice:
    free_bytes: int

    def memory(self, card: Card) -> Memory:
        return Memory(self.free_bytes // (card.number + 1), 2**34)


def test_the_fullest_card_decides_about_memory() -> None:
    device: Any = FakeDevice(4 * host.GIB)

    assert isinstance(host.memory(device, CARDS, needed_bytes=2 * host.GIB), Works)
    assert isinstance(host.memory(device, CARDS, needed_bytes=3 * host.GIB), Breaks)


def test_other_weights_than_ordered_are_broken(tmp_path: Path) -> None:
    def unreadable(folder: Path) -> str:
        raise ValueError(f"{folder} holds no model")

    there = {"weights": lambda _: "b" * 64}

    assert isinstance(host.weights(tmp_path, ordered={"weights": "b" * 64}, digest=there), Works)
    assert isinstance(host.weights(tmp_path, ordered={"weights": "c" * 64}, digest=there), Breaks)
    assert isinstance(
        host.weights(tmp_path, ordered={"weights": "c" * 64}, digest={"weights": unreadable}),
        Breaks,
    )


@pytest.mark.parametrize(
    ("room", "kind"),
    [
        pytest.param(640, Works, id="just enough"),
        pytest.param(639, Breaks, id="one token too few"),
        pytest.param(None, Skipped, id="the server does not tell"),
    ],
)
def test_the_cache_must_hold_a_cells_whole_load(room: int | None, kind: type) -> None:
    info = {} if room is None else {"max_total_num_tokens": room}

    assert isinstance(serving.capacity(info, [condition()]), kind)


def test_an_unbounded_open_load_needs_room_for_one_request_at_least() -> None:
    open_load = condition(load=Load.OPEN, rate=1.0, concurrency=None)

    assert isinstance(serving.capacity({"max_total_num_tokens": 160}, [open_load]), Works)
    assert isinstance(serving.capacity({"max_total_num_tokens": 159}, [open_load]), Breaks)


@dataclass
class FakeServer:
    """Answers the fixed prompts: the first token of the answer differs when it is moody."""

    moody: bool = False
    likely: float = -2.0
    tokens: int = serving.ANSWER_TOKENS
    flushes: int = 0
    asked: list[int] = field(default_factory=list)

    def flush(self) -> int:
        self.flushes += 1
        return 200

    def generate(
        self, prompts: Sequence[Sequence[int]], *, output_tokens: int, **more: object
    ) -> list[dict[str, Any]]:
        self.asked.append(output_tokens)
        first = len(self.asked) if self.moody else 7
        logprobs = [[None, 1, None], [self.likely, 2, None], [self.likely - 1, 3, None]]
        meta = {"input_token_logprobs": logprobs}
        return [{"output_ids": [first] + [5] * (self.tokens - 1), "meta_info": meta}]


def test_answers_alike_twice_work_and_are_kept_as_log_probabilities() -> None:
    server = FakeServer()

    answer = serving.answer(server)

    assert isinstance(answer.found, Works)
    assert answer.log_probabilities == (-2.5,) * serving.PROMPTS
    assert server.flushes > serving.PROMPTS


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(FakeServer(moody=True), id="answered otherwise the second time"),
        pytest.param(FakeServer(tokens=3), id="fewer tokens than asked for"),
        pytest.param(FakeServer(likely=float("nan")), id="log-probabilities that are no number"),
        pytest.param(FakeServer(likely=1.5), id="log-probabilities above zero"),
    ],
)
def test_answers_that_cannot_be_right_are_broken(server: FakeServer) -> None:
    assert isinstance(serving.answer(server).found, Breaks)


@dataclass
class LoadedServer:
    """Answers batches; each prompt's log-probability is the place that it had in its batch."""

    batches: list[tuple[list[int], list[bool]]] = field(default_factory=list)
    likely: float = -1.0

    def flush(self) -> int:
        return 200

    def generate(
        self, prompts: Sequence[Sequence[int]], *, output_tokens: int, **more: Any
    ) -> list[dict[str, Any]]:
        self.batches.append(([len(each) for each in prompts], more["return_logprob"]))
        assert more["logprob_start_len"] == [0 if each else -1 for each in more["return_logprob"]]
        logprobs = [[None, 1, None], [self.likely, 2, None]]
        return [{"meta_info": {"input_token_logprobs": logprobs}} for _ in prompts]


@pytest.mark.parametrize(
    ("concurrency", "batches"),
    [
        pytest.param(2, [(2, 2)] * 4, id="a load smaller than the prompts"),
        pytest.param(8, [(8, 8)], id="a load as large as the prompts"),
        pytest.param(32, [(32, 8)], id="a load that fills the batch up"),
    ],
)
def test_under_load_the_prompts_are_asked_in_full_batches(
    concurrency: int, batches: list[tuple[int, int]]
) -> None:
    server = LoadedServer()

    answer = serving.answer_under(server, condition(concurrency=concurrency))

    assert [(len(lengths), sum(asked)) for lengths, asked in server.batches] == batches
    assert all(asked == sorted(asked) for _, asked in server.batches)
    assert answer.log_probabilities == (-1.0,) * serving.PROMPTS
    assert answer.found == Works(f"8 prompts with {concurrency} requests in flight; "
                                 "mean log-probability -1.0000")  # fmt: skip


def test_answers_under_load_that_cannot_be_are_broken() -> None:
    server = LoadedServer(likely=float("nan"))

    assert isinstance(serving.answer_under(server, condition(concurrency=4)).found, Breaks)


def test_the_largest_load_is_the_one_to_ask_under() -> None:
    small, large = condition(concurrency=2), condition(concurrency=16)

    assert serving.saturating([small, large]) == large
    assert serving.saturating([condition(concurrency=1)]) is None


def python_with(folder: Path, modules: dict[str, str]) -> MeasuredPython:
    """Return this Python with made-up modules in the place of torch and plugins.

    Scripts run isolated, so the modules come in by the interpreter's own path file.
    """
    for name, text in modules.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    wrapper = folder / "python"
    wrapper.write_text(
        f'#!/bin/sh\nshift\nPYTHONPATH={folder} exec {sys.executable} "$@"\n', encoding="utf-8"
    )
    wrapper.chmod(0o755)
    return MeasuredPython(wrapper, {"PATH": "/usr/bin:/bin"})


class OneCpu:
    name = "cpu"

    def environment(self, cards: Sequence[Card]) -> dict[str, str]:
        return {"OMP_NUM_THREADS": "1"}

    def probe(self) -> Probe:
        return Probe("cpu", "gloo")


def probes(folder: Path, modules: dict[str, str]) -> CardProbes:
    measured, device = python_with(folder, modules), cast("Device", OneCpu())
    return CardProbes(measured.python, measured.variables, device, CARDS)


@pytest.mark.parametrize(
    ("torch", "limit_s", "said"),
    [
        pytest.param(None, 30, "No module named 'torch'", id="not there"),
        pytest.param("import time; time.sleep(60)", 1, "no answer after 1 s", id="it hangs"),
        pytest.param("import os; os._exit(3)", 30, "the probe ended", id="it takes Python along"),
        pytest.param(
            "print('hello'); raise OSError('libcuda.so.1')", 30, "OSError: libcuda.so.1", id="noisy"
        ),
    ],
)
def test_a_torch_that_does_not_work_breaks_at_the_layer_that_asks(
    tmp_path: Path, torch: str | None, limit_s: float, said: str
) -> None:
    asked = probes(tmp_path, {"torch": torch} if torch else {})

    found = asked.check(Layer.OPERATOR, limit_s)
    asked.end()

    assert isinstance(found, Breaks)
    assert said in found.finding
    assert found.remedy


@pytest.mark.parametrize("layer", [Layer.STREAM, Layer.GRAPH])
def test_what_a_cpu_has_not_is_skipped_with_a_reason(tmp_path: Path, layer: Layer) -> None:
    found = probes(tmp_path, {}).check(layer, 1)

    assert isinstance(found, Skipped)
    assert found.reason.startswith("cpu: ")


def test_what_a_check_started_is_ended_when_the_row_breaks() -> None:
    ended: list[str] = []
    checks = [
        Check(Layer.MEMORY, lambda _: Works(), end=lambda: ended.append("memory")),
        Check(Layer.COPY, lambda _: Breaks("wrong")),
        Check(Layer.GRAPH, lambda _: Works(), end=lambda: ended.append("graph")),
    ]

    checked(checks)

    assert ended == ["memory", "graph"]


def test_one_card_has_no_collectives(tmp_path: Path) -> None:
    found = python_with(tmp_path, {}).collectives(1, 10, probe=Probe("cpu", "gloo"))

    assert isinstance(found, Skipped)


PLUGIN = "INTERFACE_VERSION = {}\ndef activate():\n    return {}\nclass P:\n    device_name = 'cpu'"
ENTRY = "[sglang.srt.platforms]\n{0} = {0}:activate\n"


def plugin(
    folder: Path, *, version: int = 1, target: str = "'made_up:P'", other: str = ""
) -> Found:
    measured = python_with(folder, {"made_up": PLUGIN.format(version, target)})
    for name in filter(None, ("made_up", other)):
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(ENTRY.format(name), encoding="utf-8")
    return measured.plugin("made-up", 30)


def test_the_one_platform_of_the_stack_works(tmp_path: Path) -> None:
    assert plugin(tmp_path) == Works("made_up is made_up:P, for cpu")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        pytest.param({"version": 9}, "interface 9", id="an interface we do not know"),
        pytest.param({"target": "None"}, "does not fit this host", id="it declines"),
        pytest.param({"target": "'made_up:Gone'"}, "Gone", id="its class is not there"),
        pytest.param({"other": "another"}, "another", id="two platforms"),
    ],
)
def test_a_platform_that_would_not_be_found_breaks_at_plugin(
    tmp_path: Path, how: dict[str, Any], said: str
) -> None:
    found = plugin(tmp_path, **how)

    assert isinstance(found, Breaks)
    assert said in found.finding


def test_a_stack_without_a_plugin_skips_it(tmp_path: Path) -> None:
    assert isinstance(python_with(tmp_path, {}).plugin(None, 10), Skipped)
