"""`kunline attribute` and `kunline experiment`, on sessions that a fake bench measures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from service.cli import attribute, experiment
from service.cli.answers.words import Language
from service.cli.attribution import attributed, question_of
from service.cli.attribution_page import page
from service.cli.attribution_words import CATALOGUES
from service.cli.between import Bench, Measured, Meter
from service.client import VERSION_HEADER, Client
from service.domain.attribution import CAUSES, Cause, Level, State
from service.domain.condition import Condition
from service.domain.experiment import one_parameter
from service.domain.plan import Cell
from service.domain.verdict import Outcome
from service.formats.attributions import AttributionAnswer
from service.formats.chosen_stacks import ChosenStack, chosen
from service.formats.comparisons import CellComparison, SessionVerdicts
from service.formats.experiments import ExperimentAnswer, ExperimentArm, RecommendationRead
from service.formats.matrix_files import read_matrix
from service.formats.mixed_stacks import Between, with_setting
from service.formats.planned_cells import planned_cells
from service.formats.planned_sessions import session_of
from service.formats.sessions import SessionRead
from service.formats.verdicts import ComparisonRead, DifferenceRead, VerdictRead
from tests.golden_file import assert_golden
from tests.matrix_directory import FILES, matrix_directory

# How much worse a stack is, by what it brings.
Slowness = Callable[[ChosenStack], float]
BAD = (
    FILES["stacks/cpu-0.5.18.yaml"]
    .replace("name: cpu-0.5.18", "name: cpu-bad")
    .replace('{OMP_NUM_THREADS: "1"}', '{OMP_NUM_THREADS: "2", A_A: "1", B_B: "1", C_C: "1"}')
)
SESSIONS = UUID(int=7)
TOLERANCE = 0.03


@dataclass(frozen=True)
class FakeBench(Bench):
    """Measures nothing: a stack is as slow as a function says, within one percent.

    What was told of it before, as by an earlier search, costs nothing.
    """

    slowness: Slowness = lambda _: 0.0
    measured_keys: list[str] = field(default_factory=list)
    told: tuple[CellComparison, ...] = ()

    def stored(self, good: ChosenStack, bad: ChosenStack) -> tuple[CellComparison, ...]:
        return self.told

    def measured(self, arms: Sequence[ChosenStack], cells: Sequence[Cell]) -> Measured:
        planned = self.planned(arms, cells)
        self.meter.pay(planned, " and ".join(arm.stack.name for arm in arms))
        self.announce(arms, planned)
        self.measured_keys.append(arms[-1].stack.key)
        found = [
            comparison(arms[0], arm, cell.condition, self.slowness(arm))
            for arm in arms[1:]
            for cell in cells
        ]
        return Measured(SESSION, verdicts(found), cached=False)


SESSION = SessionRead(
    id=SESSIONS,
    plan="small",
    pool="local",
    state="finished",
    host="h",
    created_at=datetime(2026, 11, 30, tzinfo=UTC),
    finished_at=None,
    baseline_stack_key=None,
    jobs=(),
)


def outcome_of(worsening: float) -> Outcome:
    if abs(worsening) < TOLERANCE:
        return Outcome.UNCHANGED
    return Outcome.REGRESSED if worsening > 0 else Outcome.IMPROVED


def verdicts(cells: Sequence[CellComparison]) -> SessionVerdicts:
    outcomes = {cell.comparison.outcome for cell in cells}
    first = next(each for each in Outcome if each in outcomes)
    return SessionVerdicts(session_id=SESSIONS, finished=True, outcome=first, cells=tuple(cells))


def comparison(
    good: ChosenStack, other: ChosenStack, condition: Condition, worsening: float
) -> CellComparison:
    verdict = VerdictRead(
        metric="output_throughput",
        outcome=outcome_of(worsening),
        worsening=worsening,
        low=worsening - 0.01,
        high=worsening + 0.01,
        tolerance=TOLERANCE,
        smallest_detectable=0.04,
        reason="",
        warnings=(),
        baseline=100.0,
        candidate=100.0 * (1 - worsening),
    )
    return CellComparison(
        condition_key=condition.key,
        protocol_key="0" * 64,
        title="short on tiny",
        candidate_stack_key=other.stack.key,
        candidate_stack_name=other.stack.name,
        baseline_stack_key=good.stack.key,
        baseline_stack_name=good.stack.name,
        host="h",
        against="control",
        baseline_launches=2,
        candidate_launches=2,
        resolution=(
            DifferenceRead(field="max_total_num_tokens", baseline="4096", candidate="2048"),
        ),
        comparison=ComparisonRead(
            comparable=True,
            outcome=verdict.outcome,
            differences=(),
            verdicts=(verdict,),
            warnings=(),
            untold=(),
            assumed=(),
        ),
    )


@pytest.fixture
def bench(tmp_path: Path) -> Callable[[Slowness], FakeBench]:
    root = matrix_directory(tmp_path, **{"stacks__cpu-bad": BAD})
    (root / "stacks" / "cpu-bad.lock").write_text(FILES["stacks/cpu-0.5.18.lock"])
    read = read_matrix(root)

    def built(slowness: Slowness) -> FakeBench:
        http = httpx.Client(base_url="http://nowhere")
        return FakeBench(Client(http), read, read.plans.named("small"), slowness=slowness)

    return built


def answered(
    bench: FakeBench, tell: Callable[[AttributionAnswer], None] = lambda _: None
) -> AttributionAnswer:
    good, bad = (chosen(bench.matrix, name) for name in ("cpu-0.5.18", "cpu-bad"))
    cells = planned_cells(bench.matrix, bench.file)
    planned = session_of(bench.matrix, bench.file, arms=(good, bad), cells=cells)
    return attributed(bench, question_of(Between(good, bad), planned, host_steps=False), tell)


def slow_with(*names: str) -> Slowness:
    return lambda arm: 0.3 if set(names) <= arm.stack.server_environment.keys() else 0.0


def test_the_component_that_makes_it_slow_is_named_with_what_was_measured(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    measures = bench(slow_with("B_B"))

    answer = answered(measures)

    assert (answer.cause, answer.outcome) == (Cause.SINGLE, Outcome.REGRESSED)
    assert [part.name for step in answer.found for part in step.parts] == ["B_B"]
    assert len(answer.combos) <= answer.most_combos == 3
    assert len(measures.measured_keys) == 1 + len(answer.combos)
    assert {combo.level for combo in answer.combos} == {Level.GOOD, Level.BAD}
    assert attribute.exit_code(answer) == 0
    assert_golden("attribute.txt", f"{page(answer)}\n")
    assert_golden("attribute.zh.txt", f"{page(answer, Language.ZH)}\n")


def test_what_the_servers_settled_differently_is_said_before_a_combo_is_measured(
    bench: Callable[[Slowness], FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    answered(bench(slow_with("B_B")))

    said = capsys.readouterr().err.splitlines()
    assert "about" in said[0]
    assert any("max total num tokens: 4096 → 2048" in line for line in said[1:3])
    assert "at most 3 combos" in said[3]


@pytest.mark.parametrize("language", list(Language))
def test_each_step_of_a_search_is_said_in_the_language_asked_for(
    language: Language,
    bench: Callable[[Slowness], FakeBench],
    capsys: pytest.CaptureFixture[str],
) -> None:
    free = bench(slow_with("B_B"))
    good, bad = (chosen(free.matrix, name) for name in ("cpu-0.5.18", "cpu-bad"))
    cell = planned_cells(free.matrix, free.file)[0]
    told = comparison(good, bad, cell.condition, 0.3)

    answered(replace(free, told=(told,), language=language))

    assert_golden(f"attribute_progress.{language}.txt", capsys.readouterr().err)


def test_what_stored_launches_explain_is_told_before_the_bad_stack_is_measured(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    free = bench(slow_with("B_B"))
    good, bad = (chosen(free.matrix, name) for name in ("cpu-0.5.18", "cpu-bad"))
    cell = planned_cells(free.matrix, free.file)[0]
    told = comparison(good, bad, cell.condition, 0.3)

    answer = answered(replace(free, told=(told,), meter=Meter(limit_s=0.0)))

    assert answer.explained == ("max total num tokens: 4096 → 2048, not asked for",)
    assert (answer.outcome, answer.combos, answer.cause) == (Outcome.MISSING, (), None)
    assert "next would be cpu-0.5.18 and cpu-bad" in answer.stopped
    assert free.measured_keys == []
    assert attribute.exit_code(answer) == 4
    assert_golden("attribute_dry.txt", f"{page(answer)}\n")
    assert_golden("attribute_dry.zh.txt", f"{page(answer, Language.ZH)}\n")


def test_a_spent_budget_ends_a_search_with_what_was_found_by_then(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    free = bench(slow_with("B_B"))
    whole = answered(free)
    limit_s = free.meter.card_s * 0.9

    answer = answered(replace(free, meter=Meter(limit_s=limit_s)))

    assert 0 < len(answer.combos) < len(whole.combos)
    assert answer.combos == whole.combos[: len(answer.combos)]
    assert (answer.cause, answer.followed) == (None, whole.followed)
    assert attribute.exit_code(answer) == 4


def test_whoever_listens_is_told_before_the_first_session_and_after_each_combo(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    heard: list[AttributionAnswer] = []

    answer = answered(bench(slow_with("B_B")), heard.append)

    assert [len(each.combos) for each in heard] == [0, *range(len(answer.combos) + 1)]
    assert heard[0].outcome is Outcome.MISSING
    assert heard[-1].combos == answer.combos


def test_both_languages_have_the_same_words() -> None:
    english, chinese = (CATALOGUES[each] for each in Language)

    assert english.keys() == chinese.keys()
    assert {f"cause {each}" for each in Cause} <= english.keys()
    assert {f"reason {each}" for each in Cause} <= english.keys()
    assert {f"level {each}" for each in Level} <= english.keys()
    assert {f"outcome {each}" for each in Outcome} <= english.keys()
    assert {f"state {each}" for each in State} <= english.keys()
    assert all(english[f"reason {each}"] == words for each, words in CAUSES.items())


def test_variables_that_are_slow_together_are_an_interaction(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    answer = answered(bench(slow_with("A_A", "C_C")))

    assert answer.cause is Cause.INTERACTION
    assert [part.name for step in answer.found for part in step.parts] == ["A_A", "C_C"]


def test_a_stack_that_is_not_worse_is_not_attributed(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    measures = bench(lambda _: 0.0)

    answer = answered(measures)

    assert (answer.cause, answer.followed, answer.combos) == (None, None, ())
    assert len(measures.measured_keys) == 1
    assert attribute.exit_code(answer) == 0
    assert "nothing to attribute" in page(answer)


def test_what_could_not_be_told_ends_as_inconclusive(
    bench: Callable[[Slowness], FakeBench],
) -> None:
    bad = chosen(bench(lambda _: 0.0).matrix, "cpu-bad").stack.key

    answer = answered(bench(lambda arm: 0.3 if arm.stack.key == bad else 0.16))

    assert answer.cause is Cause.SEVERAL
    assert attribute.exit_code(answer) == 4


def test_an_experiment_recommends_the_value_that_gains_and_says_what_it_cost(
    bench: Callable[[Slowness], FakeBench], capsys: pytest.CaptureFixture[str]
) -> None:
    measures = bench(
        lambda arm: -0.08 if arm.stack.server_environment["OMP_NUM_THREADS"] == "4" else 0.0
    )
    parameter = one_parameter(["OMP_NUM_THREADS=1,2,4"])
    stack = chosen(measures.matrix, "cpu-0.5.18")
    arms = [with_setting(stack, name=parameter.name, value=each) for each in parameter.values]
    planned = session_of(
        measures.matrix,
        measures.file,
        arms=arms,
        cells=planned_cells(measures.matrix, measures.file)[:1],
    )

    answer = experiment.answered(
        measures.measured(arms, planned.cells), parameter, planned, metric="output_throughput"
    )
    capsys.readouterr()

    assert answer.recommendation.value == "4"
    assert answer.recommendation.gain == pytest.approx(0.08)
    assert len({arm.stack_key for arm in answer.arms}) == 3
    for language, name in ((Language.EN, "experiment.txt"), (Language.ZH, "experiment.zh.txt")):
        experiment.show(answer, language)
        assert_golden(name, capsys.readouterr().out)


@pytest.mark.parametrize("language", list(Language))
def test_an_experiment_keeps_the_control_and_says_why_and_what_another_costs(
    language: Language,
) -> None:
    kept = RecommendationRead(
        value="1",
        gain=None,
        low=None,
        high=None,
        reason="no other value improves tpot_p50 in a cell without a cell in which it is worse",
        regressed=(),
    )
    answer = ExperimentAnswer(
        plan="smoke",
        parameter="OMP_NUM_THREADS",
        metric="tpot_p50",
        arms=tuple(
            ExperimentArm(value=each, stack_key=each * 64, stack_name=each) for each in "123"
        ),
        confidence=0.975,
        session_id=SESSIONS,
        cached=True,
        card_s=0.0,
        recommendation=kept,
        cells=(),
    )
    costly = {"value": "2", "gain": 0.08, "low": 0.07, "high": 0.09, "regressed": ("itl_p50 of x",)}
    taken = "tpot_p50 is improved in a cell and regressed in none"
    better = kept.model_copy(update={**costly, "reason": taken})

    told = [
        experiment.page(answer.model_copy(update={"recommendation": each}), language)
        for each in (kept, better)
    ]

    assert_golden(f"experiment_kept.{language}.txt", f"{chr(10).join(told)}\n")


def test_a_session_of_other_stacks_is_not_taken_as_measured(tmp_path: Path) -> None:
    read = read_matrix(matrix_directory(tmp_path))
    file = read.plans.named("small")
    stack = chosen(read, "cpu-0.5.18")
    other = SESSION.model_copy(update={"id": uuid4(), "baseline_stack_key": stack.stack.key})
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.path)
        return httpx.Response(
            200,
            content=f"[{other.model_dump_json()}]",
            headers={VERSION_HEADER: version("kunline")},
        )

    transport = httpx.MockTransport(answer)
    with httpx.Client(base_url="http://here", transport=transport) as http:
        found = Bench(Client(http), read, file).before(
            [stack, chosen(read, "cpu-0.5.23")], planned_cells(read, file)
        )

    assert found is None
    assert seen == ["/api/v1/sessions"]
