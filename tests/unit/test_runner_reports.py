"""Reports: the same however often they are made, complete, and without secrets."""

import json
from datetime import UTC, datetime
from hashlib import sha256

import zstandard

from runners.benchmarks.repeat import Repeat
from runners.benchmarks.run_facts import wire
from runners.reports import (
    LaunchNotes,
    artefact,
    broken_at,
    run_report,
)
from service.domain.layer import Layer
from service.domain.validity import Gate, failure
from service.formats.reports import FINDING_CHARACTERS_MAX, GateFinding, RunReport
from tests.runner_orders import job

ORDER = job(seeds=(11, 12, 13))
CELL = ORDER.launch.cells[0]
SHORT = GateFinding(
    code="short_duration", severity="warning", message="too short", observed="2 s", required="30 s"
)


def repeat(
    seed: int, values: dict[str, float] | None = None, findings: tuple[GateFinding, ...] = ()
) -> Repeat:
    told = {"ttft_p50": 0.1 * seed} if values is None else values
    return Repeat(seed, 1000.0 + seed, 1001.0 + seed, 0.5, told, findings, {f"{seed}.jsonl": b"t"})


def test_a_text_travels_compressed_under_the_digest_of_its_content() -> None:
    content = b"line\n" * 1000

    sent = artefact("server.log", content)

    assert sent.digest == sha256(content).hexdigest()
    assert zstandard.ZstdDecompressor().decompress(sent.zstd) == content
    assert len(sent.zstd) < 100


def test_a_report_survives_its_way_over_the_wire() -> None:
    report = run_report(ORDER, CELL, [repeat(11), repeat(12), repeat(13)])

    assert RunReport.model_validate_json(report.model_dump_json()) == report


def test_samples_stand_in_the_order_of_their_seeds() -> None:
    report = run_report(ORDER, CELL, [repeat(12), repeat(11), repeat(13)])

    assert report.seeds == (12, 11, 13)
    assert report.values["ttft_p50"] == (0.1 * 12, 0.1 * 11, 0.1 * 13)
    assert report.overhead_s == (0.5, 0.5, 0.5)
    assert report.measured_at == datetime.fromtimestamp(1011, tz=UTC)
    assert report.finished_at == datetime.fromtimestamp(1014, tz=UTC)
    assert {kept.name for kept in report.artefacts} == {"11.jsonl", "12.jsonl", "13.jsonl"}


def test_a_repeat_that_failed_makes_the_run_invalid_and_keeps_the_others() -> None:
    failed = repeat(12, {}, (wire(failure(Gate.TOOL_FAILED, observed="exit code 1", required=0)),))

    report = run_report(ORDER, CELL, [repeat(11), failed, repeat(13)])

    assert report.state == "invalid"
    assert report.seeds == (11, 13)
    assert report.findings[0].message == (
        "in 1 of 3 repeats (seeds 12): the benchmark tool must end with exit code 0 and write one "
        "result: observed exit code 1, required 0"
    )


def test_only_metrics_that_every_repeat_has_become_samples() -> None:
    more = repeat(11, {"ttft_p50": 0.1, "accept_length": 2.0})

    assert set(run_report(ORDER, CELL, [more, repeat(12)]).values) == {"ttft_p50"}


def test_what_every_repeat_finds_is_said_once() -> None:
    repeats = [repeat(seed, findings=(SHORT,)) for seed in (11, 12, 13)]

    findings = run_report(ORDER, CELL, repeats).findings

    assert [finding.message for finding in findings] == [
        "in 3 of 3 repeats (seeds 11, 12, 13): too short"
    ]


def test_secrets_are_taken_out_of_what_a_launch_keeps() -> None:
    notes = LaunchNotes(ORDER, "h", datetime(2026, 11, 29, tzinfo=UTC))
    notes.server_info = {"api_key": "hunter2", "launch_command": "x --api-key hunter2"}
    notes.server_log = b"started with --admin-api-key=hunter2 on port 1\n"

    kept = {each.name: each.zstd for each in notes.report().artefacts}

    plain = {name: zstandard.ZstdDecompressor().decompress(zstd) for name, zstd in kept.items()}
    assert json.loads(plain["server_info.json"])["api_key"] == "<redacted>"
    assert not any(b"hunter2" in text for text in plain.values())


def test_a_long_finding_keeps_what_it_says_first_and_its_end_and_no_secret() -> None:
    log = "x" * 9000 + " --api-key hunter2 died"

    broken = broken_at(Layer.SERVER, f"the server ended with -9\n{log}")
    of_one_line = broken_at(Layer.SERVER, log)

    for each in (broken, of_one_line):
        assert len(each.finding) <= FINDING_CHARACTERS_MAX
        assert each.finding.endswith("died")
        assert "hunter2" not in each.finding
    assert broken.finding.startswith("the server ended with -9\n")
    assert of_one_line.finding.startswith("xxx")
