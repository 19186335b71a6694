"""One answer of a gate, put together by hand: verdicts, cells and the whole around them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from service.domain.ci_gate import Counts, Standing, exit_code, outcome_of
from service.domain.layer import Layer
from service.domain.stack import SwapScope
from service.domain.verdict import REASONS, Outcome
from service.formats.gate_answers import (
    GateAnswer,
    GateBase,
    GateCandidate,
    GateCell,
    GateComponent,
    GateControl,
    GateLink,
    GateOverride,
    GateTime,
    GateVerdict,
    GateWaiver,
)
from service.formats.verdicts import VerdictRead

ASKED = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
FINISHED = datetime(2026, 11, 30, 6, 12, 30, tzinfo=UTC)
GATE = UUID("01890000-0000-7000-8000-00000000000a")
SESSION = UUID("01890000-0000-7000-8000-00000000000b")
INCIDENT = UUID("01890000-0000-7000-8000-00000000000c")
WAIVER = UUID("01890000-0000-7000-8000-00000000000d")
KEY = "a" * 64
SHORT = "chat, 128 in and 32 out, batch 4, tp 1"
LONG = "summary, 2048 in and 64 out, batch 1, tp 1"
CANDIDATE = "cpu-sglang-0.5.18+sglang-kunlun"
UNITS = {"ttft_p50": "s", "tpot_p50": "s", "output_throughput": "tok/s"}
BASELINES = {"ttft_p50": 0.2, "tpot_p50": 0.021, "output_throughput": 412.0}

INTERLEAVED = GateControl(
    kind="interleaved", launches=3, why="the baseline was measured in turn with the candidate"
)
CACHED = GateControl(
    kind="cached",
    launches=4,
    sessions=2,
    oldest=datetime(2026, 11, 28, 22, 15, tzinfo=UTC),
    why="the last launches on this host are within the plan's age",
)
NO_CONTROL = GateControl(kind="none", launches=0, why="no launch of the baseline worked")


def verdict(
    metric: str,
    outcome: Outcome,
    interval: tuple[float, float, float] | None = None,
    *,
    counts: Counts = Counts.COUNTED,
    reason: str | None = None,
    detectable: float | None = 0.024,
    waiver: GateWaiver | None = None,
    warnings: tuple[str, ...] = (),
) -> GateVerdict:
    """Return a verdict. interval: low, center and high of the worsening."""
    low, center, high = interval or (None, None, None)
    sign = -1 if metric == "output_throughput" else 1
    baseline = BASELINES.get(metric)
    candidate = baseline * (1 + sign * center) if baseline and center is not None else None
    read = VerdictRead(
        metric=metric,
        outcome=outcome,
        worsening=center,
        low=low,
        high=high,
        tolerance=0.03,
        smallest_detectable=detectable if interval else None,
        reason=reason or REASONS.get(outcome, "no value"),
        warnings=warnings,
        baseline=baseline if interval else None,
        candidate=candidate,
    )
    unit = UNITS.get(metric, "1")
    return GateVerdict(verdict=read, unit=unit, counts=counts, waiver=waiver)


def unchanged(metric: str) -> GateVerdict:
    """Return a verdict that sees nothing, and would have seen 2.4 %."""
    return verdict(metric, Outcome.UNCHANGED, (-0.011, 0.002, 0.015))


def cell(
    title: str = SHORT,
    verdicts: tuple[GateVerdict, ...] = (),
    *,
    outcome: Outcome | None = None,
    **changed: Any,
) -> GateCell:
    """Return a cell that gates, unless said otherwise, with the outcome of its verdicts."""
    found = outcome or outcome_of(each.verdict.outcome for each in verdicts)
    counted = [each.verdict.outcome for each in verdicts if each.counts is Counts.COUNTED]
    usual: dict[str, Any] = {
        "condition_key": KEY,
        "protocol_key": "b" * 64,
        "title": title,
        "workload": "chat",
        "layout": "tp1",
        "why": "decode at a small batch",
        "canary": False,
        "standing": Standing.GATES,
        "outcome": found,
        "counted": outcome_of(counted) if counted else (outcome if not verdicts else None),
        "verdicts": verdicts,
        "control": INTERLEAVED,
        "baseline_launches": 3,
        "candidate_launches": 3,
        "planned_launches": 4,
        "reproduce": ("kunline", "gate", "--plan", "pr", "--cell", title, "--local"),
    }
    return GateCell(**{**usual, **changed})


def answer(*cells: GateCell, inconclusive_blocks: bool = True, **changed: Any) -> GateAnswer:
    """Return the answer of a gate over cells, its outcome and exit code by the domain's rule."""
    outcome = outcome_of(each.counted for each in cells if each.counted is not None)
    usual: dict[str, Any] = {
        "id": GATE,
        "session_id": SESSION,
        "plan": "pr",
        "mode": "remote",
        "state": "finished",
        "outcome": outcome,
        "exit_code": exit_code(outcome, inconclusive_blocks=inconclusive_blocks),
        "inconclusive_blocks": inconclusive_blocks,
        "base": GateBase(
            stack_key="c" * 64,
            stack_name="cpu-sglang-0.5.18",
            channel="main",
            how="merge base",
            found="cpu-sglang-0.5.18, which pins the merge base 1f2e3d400000",
            merge_base="1f2e3d4" + "0" * 33,
        ),
        "candidate": GateCandidate(
            stack_key="d" * 64,
            stack_name="cpu-sglang-0.5.18+sglang-kunlun",
            overrides=(
                GateOverride(
                    component="sglang-kunlun",
                    kind="wheel",
                    asked="./dist/sglang_kunlun-0.4.0-py3-none-any.whl",
                    version="0.4.0",
                    digest="e" * 64,
                    commit="9a8b7c6d",
                ),
            ),
        ),
        "components": (
            GateComponent(
                name="sglang-kunlun",
                layer=Layer.PLUGIN,
                scope=SwapScope.PROCESS,
                recorded=False,
                baseline="0.3.2",
                candidate="0.4.0",
            ),
        ),
        "arguments": (),
        "scope": SwapScope.PROCESS,
        "cells": cells,
        "time": GateTime(
            budget_card_s=1200, planned_card_s=1100, spent_card_s=740, saved_card_s=360
        ),
        "host": "p800-a01",
        "asked_by": "ci",
        "asked_at": ASKED,
        "finished_at": FINISHED,
        "links": (
            GateLink(name="gate", url=f"https://kunline.example/gates/{GATE}"),
            GateLink(name="session", url=f"https://kunline.example/sessions/{SESSION}"),
        ),
        "reproduce": (
            "kunline", "gate", "--plan", "pr", "--base", "channel:main",
            "--with", "sglang-kunlun=./dist/sglang_kunlun-0.4.0-py3-none-any.whl", "--local",
        ),
    }  # fmt: skip
    return GateAnswer(**{**usual, **changed})
