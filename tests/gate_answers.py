"""A gate's answers of every kind, built by hand: what the renderers and the forges are given."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from service.domain.ci_gate import Counts, Standing, Stop, exit_code, outcome_of
from service.domain.layer import Layer
from service.domain.stack import SwapScope
from service.domain.verdict import REASONS, Outcome
from service.formats.gate_answers import (
    GateAnswer,
    GateBase,
    GateBroken,
    GateCandidate,
    GateCell,
    GateComponent,
    GateControl,
    GateIncident,
    GateLink,
    GateOverride,
    GateStop,
    GateTime,
    GateVerdict,
    GateWaiver,
)
from service.formats.verdicts import DifferenceRead, VerdictRead

ASKED = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
FINISHED = datetime(2026, 11, 30, 6, 12, 30, tzinfo=UTC)
GATE = UUID("01890000-0000-7000-8000-00000000000a")
SESSION = UUID("01890000-0000-7000-8000-00000000000b")
INCIDENT = UUID("01890000-0000-7000-8000-00000000000c")
WAIVER = UUID("01890000-0000-7000-8000-00000000000d")
KEY = "a" * 64
SHORT = "chat, 128 in and 32 out, batch 4, tp 1"
LONG = "summary, 2048 in and 64 out, batch 1, tp 1"
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
            found="pinned in channel main for the merge base 1f2e3d4",
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


def mended() -> GateAnswer:
    """Return an answer in which one launch broke, and enough others did not."""
    fault = GateBroken(
        side="candidate", layer=Layer.SERVER, finding="no answer within 300 s", remedy="look again"
    )
    return answer(cell(SHORT, (unchanged("ttft_p50"),), broken=fault))


def regressed() -> GateAnswer:
    """Return an answer in which one cell is slower, one is not, and one only informs."""
    slower = (
        verdict("output_throughput", Outcome.REGRESSED, (0.281, 0.312, 0.344)),
        verdict("tpot_p50", Outcome.REGRESSED, (0.402, 0.446, 0.492)),
        unchanged("ttft_p50"),
    )
    informs = verdict("ttft_p50", Outcome.REGRESSED, (0.05, 0.08, 0.11), counts=Counts.INFORMS)
    return answer(
        cell(
            SHORT,
            slower,
            stopped=GateStop(word=Stop.CERTAIN, why="the interval left the tolerance at look 2"),
            resolution=(
                DifferenceRead(field="attention_backend", baseline="fa3", candidate="triton"),
            ),
            canary=True,
        ),
        cell(LONG, (unchanged("ttft_p50"), unchanged("output_throughput")), control=CACHED),
        cell("bulk, informs", (informs,), standing=Standing.INFORMS),
        notes=("components of the swap scope process only: no host has to be rebooted",),
    )


def all_well() -> GateAnswer:
    """Return an answer in which nothing moved, and what would have been seen is known."""
    return answer(
        cell(SHORT, (unchanged("ttft_p50"), unchanged("output_throughput"))),
        cell(LONG, (unchanged("ttft_p50"),)),
    )


def improved() -> GateAnswer:
    """Return an answer in which one cell is faster."""
    faster = verdict("output_throughput", Outcome.IMPROVED, (-0.12, -0.09, -0.06))
    return answer(
        cell(SHORT, (faster, unchanged("ttft_p50"))), cell(LONG, (unchanged("ttft_p50"),))
    )


def inconclusive(*, blocks: bool = True) -> GateAnswer:
    """Return an answer in which one cell is too noisy to tell."""
    noisy = verdict("tpot_p50", Outcome.INCONCLUSIVE, (-0.03, 0.02, 0.07), detectable=0.081)
    return answer(
        cell(
            SHORT,
            (noisy, unchanged("ttft_p50")),
            stopped=GateStop(word=Stop.BUDGET, why="the budget of 20 min of card time is used up"),
        ),
        inconclusive_blocks=blocks,
    )


def passes() -> GateAnswer:
    """Return the same from a plan that lets it pass."""
    return inconclusive(blocks=False)


def insufficient() -> GateAnswer:
    """Return an answer in which the baseline has too few repeats."""
    few = verdict(
        "ttft_p50", Outcome.INSUFFICIENT_BASELINE, reason="the baseline has 2 repeats and needs 5"
    )
    return answer(cell(SHORT, (few,)))


def broken() -> GateAnswer:
    """Return an answer in which the canary breaks, and the rest is not measured."""
    fault = GateBroken(
        side="candidate",
        layer=Layer.PLUGIN,
        finding="ImportError: libxpu_kernels.so: undefined symbol: xpu_attention_v3",
        remedy="build sglang-kunlun against the xpytorch of this stack",
    )
    told = "broken at plugin: ImportError"
    canary = cell(
        SHORT,
        tuple(verdict(metric, Outcome.BROKEN, reason=told) for metric in UNITS),
        reasons=(told,),
        outcome=Outcome.BROKEN,
        broken=fault,
        canary=True,
        candidate_launches=1,
        baseline_launches=1,
        stopped=GateStop(word=Stop.BROKEN, why="the candidate broke at plugin in its first launch"),
    )
    rest = cell(
        LONG,
        tuple(verdict(metric, Outcome.MISSING, reason="never measured") for metric in UNITS),
        outcome=Outcome.MISSING,
        reasons=("not measured: the canary broke",),
        control=NO_CONTROL,
        candidate_launches=0,
        baseline_launches=0,
        stopped=GateStop(word=Stop.CANARY, why="the canary broke"),
    )
    return answer(canary, rest)


def broken_baseline() -> GateAnswer:
    """Return an answer in which the baseline does not come up."""
    fault = GateBroken(
        side="baseline",
        layer=Layer.CAPACITY,
        finding="the cards have 3.1 GB free and the weights need 14.2 GB",
        remedy="end the processes that hold the cards",
    )
    return answer(cell(SHORT, outcome=Outcome.BROKEN, broken=fault, control=NO_CONTROL))


def invalid() -> GateAnswer:
    """Return an answer in which what was measured may not be used."""
    return answer(
        cell(
            SHORT, outcome=Outcome.INVALID, reasons=("gate throttled: card 0 at 900 of 1400 MHz",)
        ),
        cell(LONG, (unchanged("ttft_p50"),)),
    )


def missing() -> GateAnswer:
    """Return an answer in which a cell was not measured."""
    return answer(
        cell(SHORT, (unchanged("ttft_p50"),)),
        cell(LONG, outcome=Outcome.MISSING, reasons=("its launch was given up after 3 tries",)),
    )


def not_comparable() -> GateAnswer:
    """Return an answer in which the two sides were not measured alike."""
    difference = DifferenceRead(field="model.kv_dtype", baseline="auto", candidate="fp8_e5m2")
    refused = tuple(
        verdict(metric, Outcome.NOT_COMPARABLE, reason="1 field differs") for metric in UNITS
    )
    told = ("1 field differs",)
    return answer(
        cell(
            SHORT, refused, outcome=Outcome.NOT_COMPARABLE, differences=(difference,), reasons=told
        )
    )


def known_and_waived() -> GateAnswer:
    """Return an answer in which what is worse is an open incident's, or was waived."""
    incident = GateIncident(
        id=INCIDENT,
        title="TPOT of chat up 12 % since 0.5.18",
        opened_at=ASKED,
        url=f"https://kunline.example/incidents/{INCIDENT}",
    )
    waiver = GateWaiver(
        id=WAIVER,
        who="wang.lei",
        reason="accepted until the new kernel lands",
        until=datetime(2026, 12, 15, tzinfo=UTC),
    )
    worse = (0.09, 0.12, 0.15)
    known = verdict("tpot_p50", Outcome.REGRESSED, worse, counts=Counts.KNOWN)
    waived = verdict("ttft_p50", Outcome.REGRESSED, worse, counts=Counts.WAIVED, waiver=waiver)
    return answer(
        cell(SHORT, (known, unchanged("ttft_p50")), incident=incident),
        cell(LONG, (waived, unchanged("output_throughput"))),
    )


def nothing_counted() -> GateAnswer:
    """Return an answer in which every cell only informs."""
    informs = verdict("ttft_p50", Outcome.UNCHANGED, (-0.01, 0.0, 0.01), counts=Counts.INFORMS)
    return answer(cell(SHORT, (informs,), standing=Standing.INFORMS), inconclusive_blocks=False)


def cancelled() -> GateAnswer:
    """Return the answer of a gate that a person cancelled half-way."""
    stop = GateStop(word=Stop.CANCELLED, why="cancelled by li.na")
    return answer(
        cell(SHORT, (unchanged("ttft_p50"),)),
        cell(LONG, outcome=Outcome.MISSING, reasons=("cancelled",), stopped=stop),
        state="cancelled",
    )


KINDS: dict[str, Callable[[], GateAnswer]] = {
    kind.__name__: kind
    for kind in (
        regressed, all_well, improved, inconclusive, passes, insufficient, broken, broken_baseline,
        invalid, missing, not_comparable, known_and_waived, nothing_counted, cancelled, mended,
    )
}  # fmt: skip
