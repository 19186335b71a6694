"""The steps on a host: what each turns into a named layer, and what it keeps."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from runners.benchmarks.repeat import Bench, Repeat
from runners.devices.device import Card
from runners.launched import ServerAndClient, Told, kept_without_secrets, layers_named
from runners.preflight.layers import Skipped, Works
from runners.run_job import LayerBrokenError, Prepared, Stop, StoppedError
from runners.stacks.build_step import Progress as BuildProgress
from runners.stacks.kept import Kept
from runners.stacks.provision import with_absent
from runners.stacks.server import Server, ServerError
from runners.stacks.server_flags import PROBE_REVISION
from runners.steps import HostSteps
from service.client import RefusedError
from service.domain.layer import Layer
from service.domain.stack import Component, Stack, SwapScope
from service.formats.identities import BuildOrder, ContainerOrder, HostOrder
from service.formats.orders import ModelOrder, Progress
from service.formats.problems import Problem
from service.formats.stack_differences import FlagRead, FlagsAnswer
from tests.runner_orders import DIGEST, condition, job

CARD = Card(0, "core", "shared")


def steps(cache: Path, locks: dict[str, bytes] | None = None) -> HostSteps:
    def fetch(digest: str) -> bytes:
        if digest in (locks or {}):
            return (locks or {}).pop(digest)
        raise RefusedError(Problem(type="UnknownArtefactError", title="not stored", status=404))

    return HostSteps(host="h", cache=cache, cards=(CARD,), variables={}, fetch=fetch)


def nothing(_: Progress) -> None:
    pass


def test_a_stack_without_a_build_section_breaks_at_packages(tmp_path: Path) -> None:
    order = job()
    unbuilt = order.model_copy(update={"stack": order.stack.model_copy(update={"build": None})})

    with pytest.raises(LayerBrokenError) as caught:
        steps(tmp_path).prepare(unbuilt, nothing)
    assert caught.value.layer is Layer.PACKAGES


@pytest.mark.parametrize(
    ("build", "layer", "said"),
    [
        (HostOrder(python="no-such-python"), Layer.PACKAGES, "is not on this host"),
        (ContainerOrder(image="a/b:1", digest=f"sha256:{DIGEST}"), Layer.RUNTIME, "neither docker"),
    ],
    ids=["a Python that is not there", "no container engine"],
)
def test_a_stack_that_is_not_on_the_host_names_its_layer(
    tmp_path: Path, build: HostOrder | ContainerOrder, layer: Layer, said: str
) -> None:
    order = job()
    there = order.model_copy(update={"stack": order.stack.model_copy(update={"build": build})})
    bare = replace(steps(tmp_path), variables={"PATH": str(tmp_path)})

    with pytest.raises(LayerBrokenError, match=said) as caught:
        bare.prepare(there, nothing)
    assert caught.value.layer is layer


def test_a_broken_layer_without_a_remedy_of_its_own_gets_that_of_a_known_failure() -> None:
    error = LayerBrokenError(Layer.COLLECTIVES, "[XCCL] addr_window not properly set")

    assert "vLLM-Kunlun issues 382 and 420" in error.remedy


def test_a_lock_that_the_service_does_not_have_breaks_at_packages(tmp_path: Path) -> None:
    with pytest.raises(LayerBrokenError, match="not stored") as caught:
        steps(tmp_path).prepare(job(), nothing)
    assert caught.value.layer is Layer.PACKAGES


def test_a_chip_that_nothing_here_drives_breaks_at_device(tmp_path: Path) -> None:
    order = job()
    other = order.model_copy(update={"stack": order.stack.model_copy(update={"chip": "abacus"})})

    with pytest.raises(LayerBrokenError, match="abacus") as caught:
        steps(tmp_path).prepare(other, nothing)
    assert caught.value.layer is Layer.DEVICE


def test_a_lock_is_asked_for_once(tmp_path: Path) -> None:
    lock = b"torch==2.13.0 --hash=sha256:00\n"
    digest = sha256(lock).hexdigest()
    host = steps(tmp_path, {digest: lock})

    assert host._lock(digest) == lock
    assert host._lock(digest) == lock


def test_a_kept_lock_that_was_damaged_is_asked_for_again(tmp_path: Path) -> None:
    lock = b"torch==2.13.0 --hash=sha256:00\n"
    digest = sha256(lock).hexdigest()
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / digest).write_bytes(b"torch")

    assert steps(tmp_path, {digest: lock})._lock(digest) == lock


@pytest.mark.parametrize(
    "model",
    [
        pytest.param({}, id="neither path nor maker"),
        pytest.param({"maker": {"kind": "huge_llama"}}, id="a maker that is not known"),
        pytest.param({"maker": {"kind": "tiny_llama", "seed": 1}}, id="a recipe with gaps"),
        pytest.param({"maker": {"kind": "tiny_llama", "seed": "one"}}, id="a seed in words"),
    ],
)
def test_a_model_that_cannot_be_made_breaks_at_weights(
    tmp_path: Path, model: dict[str, object]
) -> None:
    ordered = ModelOrder.model_validate(
        {"id": "m", "weights_digest": DIGEST, "tokenizer_digest": DIGEST, **model}
    )

    with pytest.raises(LayerBrokenError) as caught:
        steps(tmp_path)._model(ordered)
    assert caught.value.layer is Layer.WEIGHTS


def test_a_pin_that_is_not_installed_is_seen_as_absent() -> None:
    stack = Stack(
        "s",
        (
            Component("torch", "2.13.0", Layer.PACKAGES, SwapScope.PROCESS),
            Component("triton", "3.9.0", Layer.PACKAGES, SwapScope.PROCESS),
            Component("driver", "5.0", Layer.DRIVER, SwapScope.HOST),
            Component("python", "3.11", Layer.PACKAGES, SwapScope.PROCESS, recorded=True),
        ),
    )

    assert with_absent(stack, {"torch": "2.13.0"}) == {"torch": "2.13.0", "triton": "(absent)"}


def test_every_layer_below_the_server_is_looked_at_or_said_to_be_skipped(tmp_path: Path) -> None:
    here = Path("/nowhere")
    prepared = Prepared(here, here, here, here, {"sglang": "0.5.23"})

    checks = steps(tmp_path).checks(job(), prepared)

    below = list(Layer)[: list(Layer).index(Layer.CAPACITY)]
    assert [check.layer for check in checks] == below
    inside = {Layer.MEMORY, Layer.COPY, Layer.OPERATOR, Layer.PLUGIN}
    found = {check.layer: check.find(1.0) for check in checks if check.layer not in inside}
    assert isinstance(found[Layer.DEVICE], Works)
    assert isinstance(found[Layer.DRIVER], Skipped)
    assert isinstance(found[Layer.COLLECTIVES], Skipped)
    assert isinstance(found[Layer.PACKAGES], Works)


def test_a_server_that_dies_names_the_layer_its_log_suggests(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("torch.OutOfMemoryError: out of memory\n", encoding="utf-8")

    with pytest.raises(LayerBrokenError) as caught, layers_named(Stop()):
        raise ServerError("the server ended with 1", log=log)
    assert caught.value.layer is Layer.MEMORY


def test_a_server_that_dies_of_a_stop_is_no_broken_layer(tmp_path: Path) -> None:
    log, stop = tmp_path / "server.log", Stop()
    log.write_text("terminated\n", encoding="utf-8")
    stop.give("SIGTERM")

    with pytest.raises(StoppedError), layers_named(stop):
        raise ServerError("the server ended with 143", log=log)


def test_values_measured_while_the_server_went_away_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("Killed\n", encoding="utf-8")
    over = SimpleNamespace(exit_code=137)
    server = Server("http://127.0.0.1:1", 1, tmp_path / "server.log", 1.0, cast("Kept", over))
    repeat = Repeat(1, 0.0, 1.0, 0.0, {"ttft_p50": 0.1}, (), {})
    bench = SimpleNamespace(repeat=lambda *_, **__: repeat)

    with pytest.raises(ServerError, match="the server ended with 137"):
        ServerAndClient(server, cast("Bench", bench), Told({}, {}, has_metrics=False)).repeat(
            condition(), name="r", seed=1, stopped=lambda: False
        )


def test_a_build_that_takes_too_long_in_all_breaks_at_its_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(_recipe: object, *, progress: BuildProgress, **_more: object) -> None:
        while True:
            progress("Downloading torch", None)

    monkeypatch.setattr("runners.steps.build", endless)
    order, lock = job(), b"lock"
    assert isinstance(order.stack.build, BuildOrder)
    ordered = order.stack.build.model_copy(update={"lock": sha256(lock).hexdigest()})

    with pytest.raises(LayerBrokenError, match="not built within 0 s") as caught:
        steps(tmp_path, {ordered.lock: lock})._environment(
            ordered, nothing, Layer.CLIENT, limit_s=0.05
        )
    assert caught.value.layer is Layer.CLIENT


def test_what_a_launch_leaves_on_disk_has_no_secret_in_it(tmp_path: Path) -> None:
    quiet = b"nothing to hide\n" * 5
    (tmp_path / "client.log").write_bytes(quiet)
    with kept_without_secrets(tmp_path):
        (tmp_path / "server.log").write_bytes(b"ServerArgs(api_key='hunter2')\n" * 50_000)

    assert b"hunter2" not in (tmp_path / "server.log").read_bytes()
    assert (tmp_path / "server.log").read_bytes().count(b"\n") == 50_000
    assert (tmp_path / "client.log").read_bytes() == quiet
    assert {path.name for path in tmp_path.iterdir()} == {"client.log", "server.log"}


@pytest.mark.parametrize(
    ("spelling", "asked"),
    [
        pytest.param("cuda-graph-max-bs", "cuda-graph-max-bs", id="an older release"),
        pytest.param("cuda-graph-max-bs-decode", "cuda-graph-max-bs-decode", id="a newer one"),
        pytest.param(None, "cuda-graph-max-bs-decode", id="a release that cannot be asked"),
    ],
)
def test_a_renamed_flag_is_given_under_the_name_the_release_takes(
    tmp_path: Path, spelling: str | None, asked: str
) -> None:
    python = tmp_path / "digest" / "bin" / "python"
    if spelling is not None:
        kept = tmp_path / "flags" / f"digest-{PROBE_REVISION}.json"
        kept.parent.mkdir()
        kept.write_text(
            FlagsAnswer(flags=(FlagRead(spellings=(spelling,)),)).model_dump_json(), "utf-8"
        )
    order = job()
    renamed = order.launch.model_copy(update={"server_arguments": {"cuda-graph-max-bs-decode": 32}})
    prepared = Prepared(python, python, tmp_path, tmp_path, {})

    launch = steps(tmp_path)._launch(order.model_copy(update={"launch": renamed}), prepared)

    assert launch.arguments == {asked: 32}
