"""The gates: what invalidates a run, what only warns, and that unknown is not fine."""

from dataclasses import replace

import pytest

from service.domain.validity import (
    SENTENCES,
    Gate,
    RunFacts,
    Severity,
    Validity,
    check,
    validity_of,
)

FINE = RunFacts(
    requests_completed=12,
    requests_asked=12,
    input_tokens=12 * 128,
    input_lengths=(128, 128),
    output_tokens=12 * 64,
    output_lengths=(64, 64),
    ignore_eos=True,
    retokenised=12 * 64,
    ttft_p50=0.07,
    tpot_p50=0.007,
    itl_p50=0.007,
    cold=True,
    cache_flushed=True,
    cache_hit=0.0,
    concurrency=3.9,
    concurrency_asked=4,
    server_errors=0,
    duration_s=40.0,
)


def seen(facts: RunFacts) -> list[tuple[Gate, Severity]]:
    return [(finding.gate, finding.severity) for finding in check(facts)]


def test_a_run_that_did_what_was_asked_passes_every_gate() -> None:
    assert check(FINE) == ()
    assert validity_of(check(FINE)) is Validity.VALID


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        (
            {
                "requests_completed": 6,
                "output_tokens": 384,
                "input_tokens": 768,
                "retokenised": 384,
            },
            "requests_failed",
        ),
        ({"output_tokens": 12 * 8, "retokenised": 12 * 8}, "output_tokens_not_as_asked"),
        (
            {"ignore_eos": None, "output_tokens": 12 * 8, "retokenised": 12 * 8},
            "output_tokens_not_as_asked",
        ),
        ({"input_tokens": 12 * 130}, "input_tokens_not_as_asked"),
        ({"retokenised": 0}, "no_text_came_back"),
        ({"ttft_p50": 0.0}, "ttft_zero"),
        ({"itl_p50": 0.0}, "itl_zero"),
        ({"tpot_p50": 0.00146, "itl_p50": 0.00416}, "tpot_against_itl"),
        ({"tpot_p50": 0.021}, "tpot_against_itl"),
        ({"not_finite": ("e2e_p50",)}, "value_not_finite"),
        ({"cache_flushed": False}, "cache_not_flushed"),
        ({"cache_hit": 0.3}, "cache_warm"),
        ({"server_errors": 2}, "server_errors"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failed_gate_makes_a_run_invalid_and_names_itself(
    change: dict[str, object], gate: str
) -> None:
    findings = check(replace(FINE, **change))  # type: ignore[arg-type]  # a table of any field

    assert [(finding.code, finding.severity) for finding in findings] == [(gate, Severity.FAILURE)]
    assert validity_of(findings) is Validity.INVALID
    assert "observed" in findings[0].message


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"retokenised": 12 * 13}, Gate.RETOKENISED_RATIO_ODD),
        ({"concurrency": 2.9}, Gate.CONCURRENCY_NOT_REACHED),
        ({"duration_s": 1.4}, Gate.SHORT_DURATION),
    ],
)
def test_what_only_warns_leaves_a_run_valid(change: dict[str, object], gate: Gate) -> None:
    findings = check(replace(FINE, **change))  # type: ignore[arg-type]  # a table of any field

    assert [(finding.gate, finding.severity) for finding in findings] == [(gate, Severity.WARNING)]
    assert validity_of(findings) is Validity.VALID


@pytest.mark.parametrize(
    ("field", "gate"),
    [
        ("requests_asked", Gate.REQUESTS_FAILED),
        ("output_tokens", Gate.OUTPUT_TOKENS_NOT_AS_ASKED),
        ("input_tokens", Gate.INPUT_TOKENS_NOT_AS_ASKED),
        ("retokenised", Gate.NO_TEXT_CAME_BACK),
        ("ttft_p50", Gate.TTFT_ZERO),
        ("itl_p50", Gate.ITL_ZERO),
        ("cache_flushed", Gate.CACHE_NOT_FLUSHED),
        ("concurrency", Gate.CONCURRENCY_NOT_REACHED),
        ("server_errors", Gate.SERVER_ERRORS),
    ],
)
def test_what_nobody_told_is_unknown_and_not_passed(field: str, gate: Gate) -> None:
    findings = check(replace(FINE, **{field: None}))  # type: ignore[arg-type]  # a table of any field

    assert [(finding.gate, finding.severity) for finding in findings] == [(gate, Severity.UNKNOWN)]
    assert validity_of(findings) is Validity.INCOMPLETE


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"ignore_eos": False, "output_tokens": 700}, id="an end that was asked for"),
        pytest.param({"output_lengths": (32, 64), "output_tokens": 12 * 60}, id="drawn lengths"),
        pytest.param({"itl_per_token": False, "itl_p50": 0.05}, id="several tokens a gap"),
        pytest.param({"cold": False, "cache_flushed": None, "cache_hit": 0.9}, id="a kept cache"),
        pytest.param({"concurrency_asked": None, "concurrency": None}, id="an open load"),
        pytest.param(
            {"streamed": False, "retokenised": None, "ttft_p50": None, "itl_p50": None},
            id="a tool that sees no single token",
        ),
        pytest.param(
            {"output_tokens": 12, "output_lengths": (1, 1), "tpot_p50": 0.0, "itl_p50": 0.0,
             "retokenised": 12},
            id="one token a request has no gap",
        ),
    ],
)  # fmt: skip
def test_a_gate_that_does_not_apply_finds_nothing(change: dict[str, object]) -> None:
    assert check(replace(FINE, **change)) == ()  # type: ignore[arg-type]  # a table of any field


def test_a_run_in_which_nothing_completed_is_said_so_once() -> None:
    nothing = replace(FINE, requests_completed=0, input_tokens=0, output_tokens=0, retokenised=9)

    assert seen(nothing)[0] == (Gate.REQUESTS_FAILED, Severity.FAILURE)
    assert Gate.OUTPUT_TOKENS_NOT_AS_ASKED not in dict(seen(nothing))


def test_every_gate_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Gate)


def test_nothing_known_is_incomplete() -> None:
    assert validity_of(check(RunFacts())) is Validity.INCOMPLETE
