"""The base of a gate: the merge base's baseline, today's, or a stack by name."""

import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from service.cli.gate_base import BaseAsked, NoBaseError, base_of
from service.cli.gate_candidate import Named, candidate_of
from service.cli.gate_power import power_note
from service.cli.gate_wheels import git
from service.client import Client
from service.formats.baselines import BaselineRead
from service.formats.chosen_stacks import ChosenStack, OverrideError, chosen, with_overrides
from service.formats.ci_gates import GateOrder
from service.formats.costs import CostRead
from service.formats.gate_answers import GateBase
from service.formats.gate_plans import (
    Asked,
    Costs,
    GatePlanError,
    Side,
    gate_upload,
)
from service.formats.identities import StackOrder
from service.formats.matrix_files import read_matrix
from service.formats.planned_cells import planned_cells

MATRIX = read_matrix(Path(__file__).parents[2] / "matrix")
PLAN = MATRIX.plans.named("pr-cpu")
OLD, NEW = (chosen(MATRIX, name) for name in ("cpu-sglang-0.5.18", "cpu-sglang-0.5.23"))
(CELL,) = planned_cells(MATRIX, PLAN)
COST = CostRead(condition_key=CELL.condition.key, start_s=100, repeat_s=20, launches=4)
TODAY = datetime(2026, 11, 1, tzinfo=UTC)


class Pinned(Client):
    """A service that knows of some pins and nothing else."""

    def __init__(self, *pins: tuple[ChosenStack, datetime, datetime | None]) -> None:
        self.pins = pins

    def baselines(
        self, *, channel: str | None = None, history: bool = False
    ) -> tuple[BaselineRead, ...]:
        assert history
        return tuple(
            BaselineRead(
                id=uuid4(),
                channel=channel or "main",
                condition_key=CELL.condition.key,
                protocol_key=CELL.protocol.key,
                title="cell",
                stack_key=stack.stack.key,
                stack_name=stack.stack.name,
                pinned_at=at,
                pinned_by="ada",
                why="release",
                replaced_at=until,
            )
            for stack, at, until in self.pins
        )

    def stack(self, asked: str) -> StackOrder:
        return next(
            stack.order()
            for stack, _, _ in self.pins
            if asked in {stack.stack.key, stack.stack.name}
        )


def found(
    client: Client, *, text: str | None = None, local: bool = False, **asked: object
) -> tuple[Side, GateBase]:
    base = BaseAsked(
        text=text,
        **{"merge_base": None, "target": None, "source": Path(), **asked},  # type: ignore[arg-type]
    )
    return base_of(client, MATRIX, PLAN, base, local=local)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a branch that left main two days before today, with a later commit on each."""
    for day, words in ((-2, "base"), (0, "tip")):
        _commit(tmp_path, words, TODAY + timedelta(days=day), first=words == "base")
    git(tmp_path, "checkout", "--quiet", "-b", "feature", "HEAD~1")
    _commit(tmp_path, "feature", TODAY)
    return tmp_path


def test_without_a_word_it_is_what_is_pinned_in_main_now() -> None:
    side, base = found(Pinned((NEW, TODAY, None), (OLD, TODAY - timedelta(days=9), TODAY)))

    assert (base.how, base.channel, base.stack_name) == ("tip", "main", NEW.stack.name)
    assert side.stack.stack.key == NEW.stack.key
    assert side.stack.build == NEW.build


@pytest.mark.parametrize(
    ("pins", "said"),
    [
        pytest.param(
            [(NEW, TODAY, None), (NEW, TODAY, None), (OLD, TODAY, None)],
            "pinned in channel main now; 1 of 3 cells have another stack pinned",
            id="another one in a cell",
        ),
        pytest.param(
            [(OLD, TODAY - timedelta(days=9), TODAY)],
            "pinned in channel main until 2026-11-01, and nothing is pinned there now",
            id="nothing any more",
        ),
    ],
)
def test_it_says_where_the_channel_holds_cells_to_other_stacks_or_to_none(
    pins: list[tuple[ChosenStack, datetime, datetime | None]], said: str
) -> None:
    assert said in found(Pinned(*pins))[1].found


def test_it_is_what_was_pinned_when_the_branch_left_its_target(repository: Path) -> None:
    pins = Pinned(
        (NEW, TODAY - timedelta(days=1), None),
        (OLD, TODAY - timedelta(days=9), TODAY - timedelta(days=1)),
    )

    _, base = found(pins, target="main", source=repository)

    assert (base.how, base.stack_name) == ("merge base", OLD.stack.name)
    assert base.merge_base == git(repository, "rev-parse", "main~1")


def test_a_stack_that_names_the_merge_base_is_its_baseline(repository: Path) -> None:
    commit = git(repository, "rev-parse", "main~1")
    named = with_overrides(NEW, [("kunline-sglang-cpu", f"0.1.0+g{commit[:8]}")])

    _, base = found(Pinned((NEW, TODAY, None), (named, TODAY, TODAY)), merge_base=commit)

    assert (base.how, base.stack_key) == ("merge base", named.stack.key)


def test_where_no_baseline_is_of_the_merge_base_today_s_is_taken_and_said_so(
    repository: Path,
) -> None:
    _, base = found(Pinned((NEW, TODAY, None)), target="main", source=repository)

    assert base.how == "tip"
    assert "no baseline is of the merge base" in base.found


def test_a_stack_may_be_named_by_name() -> None:
    side, base = found(Pinned(), text="stack:cpu-sglang-0.5.18")

    assert (base.how, base.channel) == ("stack", None)
    assert side.stack.stack.key == OLD.stack.key


def test_where_nothing_is_pinned_only_a_local_gate_takes_the_plans_own() -> None:
    _, base = found(Pinned(), local=True)

    assert (base.how, base.stack_name) == ("plan", PLAN.shape.baseline)
    for asked in ({"local": False}, {"local": True, "text": "channel:main"}):
        with pytest.raises(NoBaseError, match="kunline baseline pin"):
            found(Pinned(), **asked)


def test_a_base_that_is_neither_channel_nor_stack_is_refused() -> None:
    with pytest.raises(OverrideError, match="channel:NAME or stack:NAME"):
        found(Pinned(), text="main")


def test_a_pinned_stack_that_the_matrix_lost_is_built_as_it_was() -> None:
    gone = with_overrides(NEW, [("torch", "2.13.1+cpu")])

    side, _ = found(Pinned((gone, TODAY, None)))

    assert side.stack.stack.key == gone.stack.key
    assert side.stack.build == gone.build
    assert side.stack.obstacle is None


def order(
    *,
    budget_s: float | None = None,
    plan: str = "pr-cpu",
    cell: str | None = None,
    costs: Costs | None = None,
) -> GateOrder:
    base = found(Pinned(), text="stack:cpu-sglang-0.5.23")
    named = Named((), "cpu-sglang-0.5.18", Path())
    asked = Asked(
        cell=cell, budget_s=budget_s, command=("kunline", "gate"), mode="local", who="ada"
    )
    candidate = candidate_of(named, MATRIX, base[0])
    file = MATRIX.plans.named(plan)
    return gate_upload(
        MATRIX, file, base=base, candidate=candidate, asked=asked, costs=lambda _: costs or {}
    ).order


def test_the_candidate_is_launched_first_and_then_in_turn_with_the_base() -> None:
    asked = order()

    arms = [launch.stack_key for launch in asked.session.launches]
    new, old = asked.base.stack_key, asked.candidate.stack_key
    assert arms == [old, new, new, old, old, new, new, old]
    assert asked.rules.looks == (2, 4)
    assert asked.rules.informing == ("ttft_p50",)
    assert not asked.rules.inconclusive_blocks
    assert asked.session.baseline_stack_key == new


def test_where_controls_may_be_cached_all_but_one_come_after_the_candidates_of_the_first_look() -> (
    None
):
    section = PLAN.shape.gate.model_copy(update={"cached_control_h": 24.0})
    file = replace(PLAN, shape=PLAN.shape.model_copy(update={"gate": section}))
    base = found(Pinned(), text="stack:cpu-sglang-0.5.23")
    candidate = candidate_of(Named((), "cpu-sglang-0.5.18", Path()), MATRIX, base[0])
    asked = Asked(cell=None, budget_s=None, command=(), mode="local", who=None)

    sent = gate_upload(MATRIX, file, base=base, candidate=candidate, asked=asked).order

    names = ["c" if each.stack_key == OLD.stack.key else "b" for each in sent.session.launches]
    assert "".join(names) == "cbcbcbbc"
    assert sent.rules.cached_control_s == 24 * 3600


def test_a_budget_allows_fewer_rounds_and_that_is_said() -> None:
    whole = order()
    per_round = sum(whole.expected_s) / 4

    asked = order(budget_s=3.5 * per_round)

    assert asked.rules.looks == (2, 3)
    assert asked.notes == ("the budget of card time allows 3 of the plan's 4 rounds",)


@pytest.mark.parametrize(
    ("rounds", "costs", "least"),
    [
        pytest.param(0.5, {}, 4, id="less than a launch of each, as the plan expects it"),
        pytest.param(1.5, {}, 4, id="fewer repeats of the baseline than a verdict needs"),
        pytest.param(3.5, {CELL.condition.key: COST}, 11, id="slow, as it was when measured"),
    ],
)
def test_a_budget_that_pays_no_verdict_is_refused_with_the_least_that_does(
    rounds: float, costs: Costs, least: int
) -> None:
    per_round = sum(order().expected_s) / 4

    with pytest.raises(GatePlanError, match=f"at least --budget {least}m"):
        order(budget_s=rounds * per_round, costs=costs)


def test_what_cells_took_before_is_what_they_are_expected_to_take() -> None:
    assert set(order(costs={CELL.condition.key: COST}).expected_s) == {100 + 3 * 20}


def test_one_cell_alone_may_be_asked_for_and_none_is_refused() -> None:
    assert len(order(cell=CELL.condition.key[:12]).cells) == 1
    with pytest.raises(GatePlanError, match="no cell"):
        order(cell="nosuch")


@pytest.mark.parametrize(
    ("instead", "stack", "message"),
    [
        pytest.param((), None, "name what is different", id="nothing"),
        pytest.param(("torch",), None, "takes COMPONENT=VERSION", id="no value"),
        pytest.param(("a.yaml",), "b", "one stack can be the candidate", id="two stacks"),
        pytest.param(
            ("sglang-kunlun=git:HEAD", "sglang_kunlun=1.0"),
            None,
            "named twice",
            id="one part twice",
        ),
        pytest.param(
            ("torch=./dist",), None, r"name the wheel: torch=\./dist/\*\.whl", id="a path"
        ),
        pytest.param(
            (f"torch={Path(__file__).parent}/",), None, r"unit/\*\.whl$", id="a folder's path"
        ),
    ],
)
def test_a_candidate_is_named_in_one_way(
    instead: tuple[str, ...], stack: str | None, message: str
) -> None:
    with pytest.raises(OverrideError, match=message):
        candidate_of(Named(instead, stack, Path()), MATRIX, Side(NEW, {}))


def test_a_candidate_that_is_its_base_is_refused() -> None:
    base = found(Pinned(), text="stack:cpu-sglang-0.5.23")
    candidate = candidate_of(Named((), "cpu-sglang-0.5.23", Path()), MATRIX, base[0])
    asked = Asked(cell=None, budget_s=None, command=(), mode="local", who=None)

    with pytest.raises(GatePlanError, match="nothing to compare"):
        gate_upload(MATRIX, PLAN, base=base, candidate=candidate, asked=asked)


def _commit(folder: Path, words: str, at: datetime, *, first: bool = False) -> None:
    if first:
        git(folder, "init", "--quiet", "--initial-branch", "main")
    named = ("-c", "user.name=ada", "-c", "user.email=ada@localhost")
    date = {"GIT_COMMITTER_DATE": at.isoformat(), "GIT_AUTHOR_DATE": at.isoformat()}
    command = ["git", "-C", str(folder), *named, "commit", "--quiet", "--allow-empty", "-m", words]
    subprocess.run(command, check=True, timeout=30, env=date)


def test_a_plan_says_beforehand_what_its_gate_has_the_power_to_say() -> None:
    base = found(Pinned(), text="stack:cpu-sglang-0.5.23")
    candidate = candidate_of(Named((), "cpu-sglang-0.5.18", Path()), MATRIX, base[0])
    asked = Asked(cell=None, budget_s=None, command=(), mode="local", who=None)
    upload = gate_upload(MATRIX, PLAN, base=base, candidate=candidate, asked=asked)

    note = power_note(upload, {})

    assert note is not None
    assert "tpot_p50" in note
    assert "30.0 % worse regressed in" in note
    assert note.endswith("no noise of it is stored yet, so this is the prior's")
