"""One job with hand-written fakes: what is reported when, and what a broken stack looks like."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import zstandard

from runners.benchmarks.repeat import Repeat, RepeatStoppedError
from runners.benchmarks.run_facts import wire
from runners.benchmarks.tools import UnsupportedTrafficError
from runners.preflight.layers import Breaks, Check, Works
from runners.preflight.serving import Answer, capacity
from runners.reports import launch_id_of
from runners.run_job import LayerBrokenError, Prepared, Stop, StoppedError, Tell, run_job
from service.domain.condition import Condition
from service.domain.layer import Layer
from service.domain.resolution import Fact
from service.domain.validity import Gate, failure
from service.formats.orders import JobOrder, Progress
from service.formats.reports import GateFinding, LaunchReport, LoadedAnswer, RunReport
from tests.runner_orders import condition, job

NOW = datetime(2026, 11, 29, tzinfo=UTC)
SHORT, LONG = condition(), condition(input_tokens=512)


class FakeSteps:
    """A host on which everything works, unless told otherwise; it writes down what is done."""

    host = "host-1"

    def __init__(self) -> None:
        self.events: list[str] = []
        self.checks_made: tuple[Check, ...] = (Check(Layer.DEVICE, lambda _: Works("2 cards")),)
        self.room = 10_000
        self.answered = Answer(Works("alike"), (-1.5, -2.5))
        self.answered_under_load = Answer(Works("2 prompts"), (-1.25, -2.25))
        self.build_error: LayerBrokenError | None = None
        self.probe_findings: Mapping[str, tuple[GateFinding, ...]] = {}
        self.before_repeat: Callable[[int], None] = lambda _: None

    def prepare(self, order: JobOrder, tell: Tell) -> Prepared:
        if self.build_error is not None:
            raise self.build_error
        here = Path("/nowhere")
        return Prepared(here, here, here, here, {"sglang": "0.5.23"})

    def checks(self, order: JobOrder, prepared: Prepared) -> Sequence[Check]:
        return self.checks_made

    @contextmanager
    def launched(
        self, order: JobOrder, prepared: Prepared, tell: Tell, stop: Stop
    ) -> Iterator["FakeLaunched"]:
        self.events.append("up")
        try:
            yield FakeLaunched(self)
        finally:
            self.events.append("down")

    def let_go(self, idle_s: float) -> None:
        self.events.append(f"idle for {idle_s:.0f} s")

    def server_log(self, prepared: Prepared) -> bytes:
        return b"--api-key hunter2 fired up" if "up" in self.events else b""


class FakeLaunched:
    start_up_s = 21.0

    def __init__(self, steps: FakeSteps) -> None:
        self.steps = steps
        self.repeats = 0

    def info(self) -> Mapping[str, Any]:
        return {"max_total_num_tokens": self.steps.room, "api_key": "hunter2", "page_size": 1}

    def texts(self) -> Mapping[str, bytes]:
        return {"communication.json": b"{}"}

    def resolution(self) -> Mapping[str, Fact]:
        return {"max_total_num_tokens": self.steps.room, "page_size": 1}

    def capacity(self, conditions: Sequence[Condition]) -> Check:
        return Check(Layer.CAPACITY, lambda _: capacity(self.resolution(), conditions))

    def answer(self) -> Answer:
        return self.steps.answered

    def answer_under(self, condition: Condition) -> Answer:
        self.steps.events.append(f"under {condition.traffic.concurrency}")
        return self.steps.answered_under_load

    def probe(self, asked: Condition) -> tuple[GateFinding, ...]:
        return self.steps.probe_findings.get(asked.key, ())

    def repeat(
        self, asked: Condition, *, name: str, seed: int, stopped: Callable[[], bool]
    ) -> Repeat:
        self.repeats += 1
        self.steps.before_repeat(self.repeats)
        length = "short" if asked == SHORT else "long"
        self.steps.events.append(f"{length} {seed}")
        at = 1000.0 + self.repeats
        values = {"ttft_p50": float(seed)}
        return Repeat(seed, at, at + 1, 0.5, values, (), {f"{name}.jsonl": b"text"})

    def profile(self, asked: Condition, *, name: str, on_cards: bool) -> Mapping[str, bytes]:
        self.steps.events.append(f"profile {'cards' if on_cards else 'host'}")
        return {"profile.json": b"{}", "profile-1-TP-0.trace.json.gz": b"packed"}


class Service:
    """Takes reports and progress."""

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self.reports: list[RunReport | LaunchReport] = []
        self.phases: list[str] = []

    def deliver(self, report: RunReport | LaunchReport) -> None:
        self.events.append("run" if isinstance(report, RunReport) else "launch")
        self.reports.append(report)

    def progress(self, told: Progress) -> None:
        self.phases.append(told.phase)

    @property
    def runs(self) -> list[RunReport]:
        return [report for report in self.reports if isinstance(report, RunReport)]

    @property
    def launch(self) -> LaunchReport:
        return [report for report in self.reports if isinstance(report, LaunchReport)][-1]


def done(
    order: JobOrder,
    steps: FakeSteps,
    stop: Stop | None = None,
    now: Callable[[], datetime] = lambda: NOW,
) -> Service:
    service = Service(steps.events)
    run_job(
        order,
        steps,
        deliver=service.deliver,
        progress=service.progress,
        stop=stop or Stop(),
        now=now,
    )
    return service


def test_cells_are_measured_in_turn_and_reported_as_soon_as_they_are_complete() -> None:
    steps = FakeSteps()

    service = done(job([SHORT, LONG]), steps)

    assert steps.events == [
        *("up", "launch", "short 11", "long 11", "long 12", "run", "short 12", "run"),
        *("under 4", "down", "launch"),
    ]
    assert {run.condition_key: run.values["ttft_p50"] for run in service.runs} == {
        SHORT.key: (11.0, 12.0),
        LONG.key: (11.0, 12.0),
    }
    assert all(run.state == "measured" for run in service.runs)


def test_the_launch_tells_what_was_observed_and_settled_without_secrets() -> None:
    launch = done(job(), FakeSteps()).launch

    assert launch.broken is None
    assert launch.start_up_s == 21.0
    assert launch.observed == {"sglang": "0.5.23"}
    assert launch.resolution["page_size"] == 1
    assert launch.answer == (-1.5, -2.5)
    assert launch.loaded_answer == LoadedAnswer(concurrency=4, log_probabilities=(-1.25, -2.25))
    assert [(finding.layer, finding.state) for finding in launch.preflight] == [
        (Layer.DEVICE, "works"),
        (Layer.CAPACITY, "works"),
        (Layer.SERVER, "works"),
        (Layer.ANSWER, "works"),
        (Layer.ANSWER, "works"),
    ]
    assert {artefact.name for artefact in launch.artefacts} == {
        "communication.json",
        "server_info.json",
        "server.log",
    }
    texts = b"".join(zstandard.decompress(artefact.zstd) for artefact in launch.artefacts)
    assert b"hunter2" not in texts


def test_a_launch_begins_when_its_environments_are_built() -> None:
    ticks = count()

    launch = done(job(), FakeSteps(), now=lambda: NOW + timedelta(minutes=next(ticks))).launch

    assert launch.started_at == NOW + timedelta(minutes=1)


def test_without_a_load_there_is_nothing_to_ask_under() -> None:
    steps = FakeSteps()

    launch = done(job([condition(concurrency=1)]), steps).launch

    assert launch.loaded_answer is None
    assert not [event for event in steps.events if event.startswith("under")]


def test_garbage_under_load_breaks_the_launch_after_its_cells_were_reported() -> None:
    steps = FakeSteps()
    steps.answered_under_load = Answer(Breaks("log-probabilities that cannot be"))

    service = done(job(), steps)

    assert [run.state for run in service.runs] == ["measured"]
    assert service.launch.broken is not None
    assert service.launch.broken.layer is Layer.ANSWER
    assert service.launch.loaded_answer is None


def test_a_broken_layer_is_reported_for_every_cell_and_nothing_is_started() -> None:
    steps = FakeSteps()
    steps.checks_made += (
        Check(Layer.COLLECTIVES, lambda _: Breaks("a wrong value", "check the loopback")),
        Check(Layer.PLUGIN, lambda _: Works()),
    )

    service = done(job([SHORT, LONG]), steps)

    assert steps.events == ["run", "run", "launch"]
    assert [run.state for run in service.runs] == ["broken", "broken"]
    assert service.launch.broken is not None
    assert service.launch.broken.layer is Layer.COLLECTIVES
    assert service.launch.broken.remedy == "check the loopback"
    assert [finding.layer for finding in service.launch.preflight] == [
        Layer.DEVICE,
        Layer.COLLECTIVES,
    ]


def test_a_stack_that_cannot_be_built_is_a_result() -> None:
    steps = FakeSteps()
    steps.build_error = LayerBrokenError(Layer.PACKAGES, "no such wheel")

    service = done(job(), steps)

    assert service.launch.broken is not None
    assert service.launch.broken.layer is Layer.PACKAGES


def test_too_little_room_breaks_at_capacity_and_the_server_is_taken_down() -> None:
    steps = FakeSteps()
    steps.room = 600

    service = done(job(), steps)

    assert service.launch.broken is not None
    assert service.launch.broken.layer is Layer.CAPACITY
    assert steps.events == ["up", "down", "run", "launch"]


def test_a_cell_that_does_not_fit_breaks_alone_and_the_others_are_measured() -> None:
    steps = FakeSteps()
    steps.room = 700

    service = done(job([SHORT, LONG]), steps)

    found = {run.condition_key: run for run in service.runs}
    assert found[SHORT.key].state == "measured"
    too_large = found[LONG.key].broken
    assert too_large is not None
    assert too_large.layer is Layer.CAPACITY
    assert service.launch.broken is None
    assert steps.events == [
        "up",
        "launch",
        "run",
        "short 11",
        "short 12",
        "run",
        "under 4",
        "down",
        "launch",
    ]


def test_answers_that_change_break_at_answer() -> None:
    steps = FakeSteps()
    steps.answered = Answer(Breaks("3 of 8 prompts were answered otherwise"))

    service = done(job(), steps)

    assert service.launch.broken is not None
    assert service.launch.broken.layer is Layer.ANSWER


def test_a_server_that_dies_keeps_what_was_complete_and_breaks_the_rest() -> None:
    steps = FakeSteps()

    def die(number: int) -> None:
        if number == 4:
            raise LayerBrokenError(Layer.SERVER, "connection refused")

    steps.before_repeat = die

    service = done(job([SHORT, LONG]), steps)

    assert {run.condition_key: run.state for run in service.runs} == {
        LONG.key: "measured",
        SHORT.key: "broken",
    }
    assert steps.events[-3:] == ["down", "run", "launch"]
    assert service.launch.artefacts


def test_a_stop_between_repeats_leaves_no_half_report() -> None:
    steps, stop = FakeSteps(), Stop()

    def give(number: int) -> None:
        if number == 2:
            stop.give("the job was cancelled")

    steps.before_repeat = give
    service = Service(steps.events)

    with pytest.raises(StoppedError, match="cancelled"):
        run_job(
            job([SHORT, LONG]),
            steps,
            deliver=service.deliver,
            progress=service.progress,
            stop=stop,
            now=lambda: NOW,
        )
    assert service.runs == []
    assert steps.events[-1] == "down"


def test_a_stop_during_a_repeat_leaves_no_half_report() -> None:
    steps, stop = FakeSteps(), Stop()

    def killed(number: int) -> None:
        stop.give("SIGTERM")
        raise RepeatStoppedError("one was stopped")

    steps.before_repeat = killed

    with pytest.raises(StoppedError, match="SIGTERM"):
        done(job(), steps, stop)
    assert steps.events == ["up", "launch", "down"]


def test_a_cell_whose_lengths_are_not_exact_is_invalid_and_never_measured() -> None:
    steps = FakeSteps()
    finding = wire(failure(Gate.LENGTHS_NOT_EXACT, observed=(129, 32), required=(128, 32)))
    steps.probe_findings = {SHORT.key: (finding,)}

    service = done(job([SHORT, LONG]), steps)

    states = {run.condition_key: run.state for run in service.runs}
    assert states == {SHORT.key: "invalid", LONG.key: "measured"}
    assert "short 11" not in steps.events


def test_traffic_that_the_tool_cannot_drive_is_invalid() -> None:
    steps = FakeSteps()

    def refuse(number: int) -> None:
        raise UnsupportedTrafficError("dataset 'sharegpt'")

    steps.before_repeat = refuse

    service = done(job(), steps)

    assert [run.state for run in service.runs] == ["invalid"]
    assert service.runs[0].findings[0].code == "unsupported_traffic"


def test_the_same_claim_gives_the_same_ids_and_another_claim_others() -> None:
    first, again = done(job(), FakeSteps()), done(job(), FakeSteps())
    reclaimed = done(job(token=2), FakeSteps())

    assert first.runs[0].run_id == again.runs[0].run_id
    assert first.runs[0].run_id != reclaimed.runs[0].run_id
    assert launch_id_of(job()) == first.launch.launch_id != launch_id_of(job(token=2))


def test_a_person_who_waits_hears_of_every_phase() -> None:
    phases = done(job(), FakeSteps()).phases

    assert set(phases) == {"build", "preflight", "start", "measure", "stop"}
