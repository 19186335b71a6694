"""A plan made into a session: conditions, protocols, seeds, overrides, obstacles."""

from hashlib import sha256
from pathlib import Path

import pytest

from service.domain.condition import Load
from service.domain.key import content_key
from service.domain.metric import METRIC_REVISION
from service.domain.protocol import MEASURING_REVISION
from service.formats import planned_sessions
from service.formats.chosen_stacks import OverrideError
from service.formats.identities import BuildOrder
from service.formats.matrix_files import UnknownFileError, read_matrix
from service.formats.planned_sessions import (
    NotRunnableError,
    PlannedSession,
    StackChoiceError,
    plan_session,
    session_upload,
)
from service.formats.sessions import SessionOrder
from service.formats.workload_files import Intensity, WorkloadFile
from service.formats.yaml_file import FileProblemsError, read_yaml
from tests.matrix_directory import FILES, matrix_directory


def planned(
    root: Path,
    *,
    stacks: tuple[str, ...] = (),
    overrides: tuple[tuple[str, str], ...] = (),
    **changed: str,
) -> PlannedSession:
    matrix = read_matrix(matrix_directory(root, **changed))
    return plan_session(matrix, matrix.plans.named("small"), stacks=stacks, overrides=overrides)


def test_cells_are_each_workload_on_each_layout_at_each_intensity(tmp_path: Path) -> None:
    cells = planned(tmp_path).cells

    assert [
        (cell.workload, cell.condition.cards.count, cell.condition.traffic.prompts)
        for cell in cells
    ] == [
        ("short", 1, 12),
        ("short", 1, 32),
        ("short", 2, 12),
        ("short", 2, 32),
        ("arrivals", 1, 30),
        ("batch", 1, 8),
    ]


def test_a_condition_holds_what_the_model_asks_for_and_nothing_of_the_stack(tmp_path: Path) -> None:
    condition = planned(tmp_path).cells[2].condition

    assert condition.server_arguments == {"device": "cpu", "page-size": 16}
    assert condition.server_environment == {}
    assert condition.parallelism.tp == 2


def test_every_repeat_has_its_seed_and_the_condition_their_digest(tmp_path: Path) -> None:
    session = planned(tmp_path)

    digests = {cell.condition.traffic.seeds_digest for cell in session.cells}
    seeds = {cell.seeds for launch in session.launches for cell in launch.cells}
    assert seeds == {(7, 8, 9)}
    assert digests == {content_key([7, 8, 9])}


def test_a_protocol_names_the_tool_that_sends_the_load(tmp_path: Path) -> None:
    protocols = {cell.condition.traffic.load: cell.protocol for cell in planned(tmp_path).cells}

    assert protocols[Load.CLOSED] == protocols[Load.OPEN]
    assert protocols[Load.OPEN].client == "sglang.bench_serving"
    assert protocols[Load.BATCH].client == "sglang.bench_one_batch_server"
    assert protocols[Load.BATCH].tokenizer_digest == "2" * 64
    assert protocols[Load.BATCH].metric_revision == METRIC_REVISION
    assert protocols[Load.BATCH].measuring_revision == MEASURING_REVISION


def test_a_stack_pins_what_its_file_and_its_lock_name(tmp_path: Path) -> None:
    stack = planned(tmp_path).stacks[0].stack

    assert stack.versions == {
        "aiohttp": "3.14.5",
        "async-timeout": "5.0.1",
        "driver": "5.0",
        "python": "unknown",
        "sglang": "0.5.18",
        "torch": "2.13.0+cpu",
    }
    recorded = {component.name for component in stack.components if component.recorded}
    assert recorded == {"python", "async-timeout"}


def test_the_order_takes_two_stacks_in_turn_on_each_layout(tmp_path: Path) -> None:
    order = session_upload(planned(tmp_path)).order

    names = {stack.key: stack.stack.name for stack in order.stacks}
    assert [(names[launch.stack_key], launch.cards) for launch in order.launches] == [
        ("cpu-0.5.18", 1),
        ("cpu-0.5.23", 1),
        ("cpu-0.5.23", 1),
        ("cpu-0.5.18", 1),
        ("cpu-0.5.18", 2),
        ("cpu-0.5.23", 2),
        ("cpu-0.5.23", 2),
        ("cpu-0.5.18", 2),
    ]


def test_the_order_is_whole_and_travels(tmp_path: Path) -> None:
    upload = session_upload(planned(tmp_path))

    order = SessionOrder.model_validate_json(upload.order.model_dump_json())
    assert order == upload.order
    assert order.baseline_stack_key == order.stacks[0].key
    assert order.launches[4].server_arguments == {
        "device": "cpu",
        "page-size": 16,
        "sleep-on-idle": True,
        "tp-size": 2,
    }
    assert order.launches[4].server_environment == {"OMP_NUM_THREADS": "1"}
    assert order.policy.tolerances == {"ttft_p50": 0.1, "tpot_p50": 0.03}


def test_every_lock_that_the_order_names_is_uploaded_with_it(tmp_path: Path) -> None:
    upload = session_upload(planned(tmp_path))

    builds = [stack.build for stack in upload.order.stacks]
    builds += [client.build for client in upload.order.clients]
    locks = {build.lock for build in builds if isinstance(build, BuildOrder)}
    assert locks == upload.artefacts.keys()
    assert all(sha256(content).hexdigest() == key for key, content in upload.artefacts.items())


def test_the_same_files_give_the_same_keys(tmp_path: Path) -> None:
    first, second = planned(tmp_path / "a"), planned(tmp_path / "b")

    assert session_upload(first).order == session_upload(second).order


def test_a_person_names_the_stacks_and_their_order(tmp_path: Path) -> None:
    session = planned(tmp_path, stacks=("cpu-0.5.23",))

    assert [launch.stack.name for launch in session.launches] == ["cpu-0.5.23"] * 4
    assert session_upload(session).order.baseline_stack_key is None


def test_a_version_that_the_lock_pins_makes_a_stack_that_cannot_be_run_yet(tmp_path: Path) -> None:
    session = planned(tmp_path, overrides=(("sglang", "0.5.20"),))

    assert session.stacks[1].stack.name == "cpu-0.5.23+sglang=0.5.20"
    assert session.stacks[1].stack.key != planned(tmp_path).stacks[1].stack.key
    with pytest.raises(NotRunnableError, match=r"its lock pins sglang==0\.5\.23") as caught:
        session_upload(session)
    assert len(caught.value.obstacles) == 1


def test_torch_is_not_in_the_lock_so_another_one_is_built(tmp_path: Path) -> None:
    order = session_upload(planned(tmp_path, overrides=(("torch", "2.12.0+cpu"),))).order

    assert isinstance(order.stacks[1].build, BuildOrder)
    assert order.stacks[1].build.torch == "2.12.0"


def test_a_stack_may_be_held_against_itself_with_another_version(tmp_path: Path) -> None:
    both = planned(tmp_path, stacks=("cpu-0.5.18",) * 2, overrides=(("torch", "2.12.0+cpu"),))

    order = session_upload(both).order

    assert order.baseline_stack_key == order.stacks[0].key != order.stacks[1].key


def test_where_the_plans_baseline_is_not_measured_the_first_stack_is_the_control(
    tmp_path: Path,
) -> None:
    changed = (("torch", "2.12.0+cpu"),)

    order = session_upload(planned(tmp_path, stacks=("cpu-0.5.23",) * 2, overrides=changed)).order

    assert order.baseline_stack_key == order.stacks[0].key != order.stacks[1].key


def test_an_overridden_stack_is_not_the_plans_baseline(tmp_path: Path) -> None:
    alone = planned(tmp_path, stacks=("cpu-0.5.18",), overrides=(("torch", "2.12.0+cpu"),))

    assert session_upload(alone).order.baseline_stack_key is None


def test_a_baseline_alone_is_held_to_what_is_pinned(tmp_path: Path) -> None:
    assert (
        session_upload(planned(tmp_path, stacks=("cpu-0.5.18",))).order.baseline_stack_key is None
    )


def test_more_launches_than_a_session_holds_are_an_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned_sessions, "LAUNCHES_MAX", 3)

    with pytest.raises(NotRunnableError, match="8 launches, and a session has at most 3"):
        session_upload(planned(tmp_path))


def test_a_fixed_batch_is_warmed_up_by_one_batch(tmp_path: Path) -> None:
    batch = "name: batch\nload: batch\nconcurrency: 32\ninput_tokens: 8\noutput_tokens: 8\n"
    (tmp_path / "batch.yaml").write_text(batch)
    workload = read_yaml(tmp_path / "batch.yaml", WorkloadFile).shape

    assert workload.procedure(Intensity(concurrency=32)).warmup_requests == 1


def test_a_driver_is_the_hosts_so_the_build_stays(tmp_path: Path) -> None:
    order = session_upload(planned(tmp_path, overrides=(("driver", "5.1"),))).order

    assert order.stacks[1].build == planned(tmp_path).stacks[1].build


@pytest.mark.parametrize(
    ("override", "message"),
    [
        pytest.param(("sglan", "1"), "did you mean 'sglang'", id="an unknown component"),
        pytest.param(("python", "3.12"), "this makes no other stack", id="a recorded component"),
        pytest.param(("sglang", "0.5.23"), "this makes no other stack", id="the same version"),
    ],
)
def test_an_override_that_makes_no_other_stack_is_refused(
    tmp_path: Path, override: tuple[str, str], message: str
) -> None:
    with pytest.raises(OverrideError, match=message):
        planned(tmp_path, overrides=(override,))


def test_a_model_that_is_not_staged_can_be_planned_and_not_run(tmp_path: Path) -> None:
    plan = FILES["plans/small.yaml"].replace("model: tiny", "model: unstaged")

    session = planned(tmp_path, plans__small=plan)

    assert len(session.launches) == 8
    with pytest.raises(NotRunnableError, match="model unstaged: its weights or its tokenizer"):
        session_upload(session)


def test_a_stack_without_a_build_can_be_planned_and_not_run(tmp_path: Path) -> None:
    plan = FILES["plans/small.yaml"].replace("chip: cpu", "chip: kunlun")
    plan = plan.replace("stacks: [cpu-0.5.18, cpu-0.5.23]\nbaseline: cpu-0.5.18\n", "")

    session = planned(tmp_path, stacks=("known-only",), plans__small=plan)

    with pytest.raises(NotRunnableError, match="stack known-only: it has no build"):
        session_upload(session)


@pytest.mark.parametrize(
    ("stacks", "error", "message"),
    [
        pytest.param(
            ("cpu-0.5.19",), UnknownFileError, "did you mean 'cpu-0.5.18'", id="an unknown one"
        ),
        pytest.param(("known-only",), StackChoiceError, "is for chip kunlun", id="another chip's"),
        pytest.param(("cpu-0.5.18",) * 2, StackChoiceError, "named twice", id="one twice"),
    ],
)
def test_a_wrong_choice_of_stacks_is_refused(
    tmp_path: Path, stacks: tuple[str, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        planned(tmp_path, stacks=stacks)


def test_a_plan_without_stacks_asks_for_one_of_those_that_fit(tmp_path: Path) -> None:
    plan = FILES["plans/small.yaml"].replace("stacks: [cpu-0.5.18, cpu-0.5.23]\n", "")

    with pytest.raises(StackChoiceError, match=r"with --stack, of cpu-0\.5\.18, cpu-0\.5\.23"):
        planned(tmp_path, plans__small=plan)


def test_a_broken_file_that_the_plan_does_not_name_does_not_stop_it(tmp_path: Path) -> None:
    assert planned(tmp_path, models__unstaged="").launches


def test_a_broken_file_that_the_plan_names_is_told_by_its_own_problems(tmp_path: Path) -> None:
    with pytest.raises(FileProblemsError, match=r"tiny\.yaml:1: the file is empty"):
        planned(tmp_path, models__tiny="")


def test_a_plans_policy_stands_over_that_of_the_matrix(tmp_path: Path) -> None:
    policy = "policy: {min_repeats: 6, tolerances: {ttft_p50: 0.2}}\n"

    session = planned(tmp_path, plans__small=FILES["plans/small.yaml"] + policy)

    assert session.policy.tolerances == {"ttft_p50": 0.2, "tpot_p50": 0.03}
    assert session.policy.min_repeats == 6
    assert session.policy.confidence == 0.95
