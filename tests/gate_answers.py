"""A gate's answers of every kind, built by hand: what the renderers and the forges are given."""

from collections.abc import Callable
from datetime import UTC, datetime

from service.domain.ci_gate import Counts, Standing, Stop
from service.domain.layer import Layer
from service.domain.verdict import Outcome
from service.formats.gate_answers import (
    GateAnswer,
    GateBroken,
    GateIncident,
    GateStop,
    GateTime,
    GateWaiver,
)
from service.formats.verdicts import DifferenceRead
from tests.gate_answer import (
    ASKED,
    CACHED,
    CANDIDATE,
    INCIDENT,
    LONG,
    NO_CONTROL,
    SHORT,
    UNITS,
    WAIVER,
    answer,
    cell,
    unchanged,
    verdict,
)


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
            stopped=GateStop(
                word=Stop.CERTAIN, why="more launches would not change what is said of it"
            ),
            resolution=(
                DifferenceRead(field="attention_backend", baseline="fa3", candidate="triton"),
            ),
            canary=True,
        ),
        cell(LONG, (unchanged("ttft_p50"), unchanged("output_throughput")), control=CACHED),
        cell("bulk, informs", (informs,), standing=Standing.INFORMS),
        notes=(
            (
                "planned power, at tpot_p50, the weakest: an equal candidate is called unchanged "
                "in 81.0 % of such gates, and one that is 6.0 % worse regressed in 97.2 %; no "
                "noise of it is stored yet, so this is the prior's"
            ),
        ),
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
            stopped=GateStop(
                word=Stop.BUDGET, why="the next launch would exceed the budget of card time"
            ),
        ),
        inconclusive_blocks=blocks,
    )


def passes() -> GateAnswer:
    """Return the same from a plan that lets it pass."""
    return inconclusive(blocks=False)


def budget_spent() -> GateAnswer:
    """Return an answer whose budget went to launches that were lost, before the base was begun."""
    few = verdict(
        "tpot_p50", Outcome.INSUFFICIENT_BASELINE, reason="cpu-sglang-0.5.18 has no run: its jobs "
        "are cancelled",
    )  # fmt: skip
    return answer(
        cell(
            SHORT,
            (few,),
            control=NO_CONTROL,
            baseline_launches=0,
            candidate_launches=1,
            stopped=GateStop(
                word=Stop.BUDGET, why="the next launch would exceed the budget of card time"
            ),
        ),
        time=GateTime(
            budget_card_s=240,
            planned_card_s=480,
            spent_card_s=230,
            saved_card_s=0,
            unbegun_card_s=420,
            unreported_card_s=90,
        ),
        notes=(
            (
                "2 launches ended before the runner told anything of them: what they held the "
                "cards for until they were lost, 90 card-seconds, is in the time spent"
            ),
            (
                "the budget was spent before a control was there: 3 launches took 230 "
                "card-seconds where 60 were planned; at that, --budget 7m would have measured "
                "both stacks once, and --budget 20m would do for all"
            ),
        ),
    )


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
    told = "candidate: broken at plugin: ImportError"
    canary = cell(
        SHORT,
        tuple(verdict(metric, Outcome.BROKEN, reason=told) for metric in UNITS),
        reasons=(told,),
        outcome=Outcome.BROKEN,
        broken=fault,
        canary=True,
        candidate_launches=1,
        baseline_launches=1,
        stopped=GateStop(word=Stop.BROKEN, why="the candidate broke at plugin"),
    )
    untold = f"{CANDIDATE} was not measured: another cell that gates broke"
    rest = cell(
        LONG,
        tuple(verdict(metric, Outcome.MISSING, reason=untold) for metric in UNITS),
        outcome=Outcome.MISSING,
        reasons=(untold,),
        control=NO_CONTROL,
        candidate_launches=0,
        baseline_launches=0,
        stopped=GateStop(word=Stop.BROKEN, why="another cell that gates broke"),
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
        cell(
            LONG,
            outcome=Outcome.MISSING,
            reasons=(f"{CANDIDATE} has no run: its jobs are given up",),
        ),
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
    stop = GateStop(word=Stop.CANCELLED, why="the gate was cancelled")
    untold = f"{CANDIDATE} was not measured: the gate was cancelled"
    return answer(
        cell(SHORT, (unchanged("ttft_p50"),)),
        cell(LONG, outcome=Outcome.MISSING, reasons=(untold,), stopped=stop),
        state="cancelled",
    )


KINDS: dict[str, Callable[[], GateAnswer]] = {
    kind.__name__: kind
    for kind in (
        regressed, all_well, improved, inconclusive, passes, budget_spent, insufficient, broken,
        broken_baseline, invalid, missing, not_comparable, known_and_waived, nothing_counted,
        cancelled, mended,
    )
}  # fmt: skip
