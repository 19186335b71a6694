"""How a server is started, and which layer its last words point at."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from runners.stacks import server as servers
from runners.stacks.server import (
    Launch,
    ServerError,
    inherited,
    on_cards,
    server_command,
    server_environment,
    serving,
)
from runners.stacks.server_log import suggested_layer
from service.domain.layer import Layer

LAUNCH = Launch(
    python=Path("/environment/bin/python"),
    model=Path("/models/tiny"),
    served_name="kunline/tiny",
    arguments={"tp-size": 2, "sleep-on-idle": True, "disable-radix-cache": False},
    variables={"OMP_NUM_THREADS": "1"},
    log=Path("/logs/server.log"),
)


def test_the_command_is_the_launchs_arguments_and_what_is_local_to_the_host() -> None:
    assert server_command(LAUNCH, port=31000) == [
        "/environment/bin/python",
        *("-m", "sglang.launch_server"),
        *("--model-path", "/models/tiny", "--served-model-name", "kunline/tiny"),
        *("--host", "127.0.0.1", "--port", "31000", "--random-seed", "1"),
        *("--sleep-on-idle", "--tp-size", "2"),
    ]


def test_a_launch_program_takes_the_words_of_the_server_it_stands_for() -> None:
    launched = replace(LAUNCH, program=Path("/environment/bin/sglang-kunlun-launch"))

    words = server_command(launched, port=31000)

    assert words[0] == "/environment/bin/sglang-kunlun-launch"
    assert words[1:] == server_command(LAUNCH, port=31000)[3:]


def test_the_cards_that_a_server_sees_follow_from_its_lease_alone() -> None:
    chosen = {"CUDA_VISIBLE_DEVICES": "4", "XPU_VISIBLE_DEVICES": "4", "OMP_NUM_THREADS": "1"}
    wanted = {"CUDA_VISIBLE_DEVICES": "0", "XPU_VISIBLE_DEVICES": "0", "OMP_NUM_THREADS": "2"}

    assert on_cards(wanted, chosen) == {**chosen, "OMP_NUM_THREADS": "2"}


def test_what_a_server_inherits_and_nobody_asked_for_is_recorded() -> None:
    own = {"LD_LIBRARY_PATH": "/usr/local/xre/so", "PATH": "/usr/bin"}
    asked = replace(LAUNCH, variables={"LD_LIBRARY_PATH": "/of/the/stack"})

    assert inherited(LAUNCH, own) == {"LD_LIBRARY_PATH": "/usr/local/xre/so"}
    assert inherited(asked, own) == {}


def test_the_server_sees_nothing_of_the_runners_environment_that_could_change_its_speed() -> None:
    runners_own = {
        "PATH": "/usr/bin",
        "PYTHONPATH": "/work",
        "OMP_NUM_THREADS": "64",
        "SGLANG_USE_AITER": "1",
        "KUNLINE_TOKEN": "secret",
        "LD_PRELOAD": "libjemalloc.so",
    }

    environment = server_environment(LAUNCH, runners_own)

    assert environment["PATH"] == "/usr/bin"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert not {"PYTHONPATH", "SGLANG_USE_AITER", "KUNLINE_TOKEN", "LD_PRELOAD"} & set(environment)


@pytest.mark.parametrize(
    ("last_words", "layer"),
    [
        ("ModuleNotFoundError: No module named 'sgl_kernel'", Layer.PLUGIN),
        ("ModuleNotFoundError: No module named 'msgspec'", Layer.PACKAGES),
        ("ImportError: libxpurt.so: cannot open shared object file", Layer.RUNTIME),
        ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
         Layer.CAPACITY),
        ("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2 GiB", Layer.MEMORY),
        ("RuntimeError: [gloo/transport/tcp/pair.cc:144] Connection reset by peer",
         Layer.COLLECTIVES),
        ("SafetensorError: Error while deserializing header", Layer.WEIGHTS),
        ("Killed", Layer.SERVER),
        ("server_args={'nccl_port': None, 'remote_backend': 'gloo'}\nKilled", Layer.SERVER),
        ("loading safetensors\nTraceback (most recent call last):\nKeyError: 3", Layer.SERVER),
    ],
)  # fmt: skip
def test_a_dead_servers_last_words_point_at_a_layer(last_words: str, layer: Layer) -> None:
    assert suggested_layer(last_words) is layer


def test_who_answers_on_a_port_that_our_server_did_not_get_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def somebody_elses_is(_base_url: str) -> bool:
        time.sleep(2)
        return True

    monkeypatch.setattr(servers, "free_port", lambda: 31000)
    monkeypatch.setattr(servers, "_healthy", somebody_elses_is)
    launch = replace(LAUNCH, python=Path("/bin/false"), log=tmp_path / "server.log")

    with (
        pytest.raises(ServerError, match="the server ended with 1"),
        serving(launch, inherited=os.environ, start_limit_s=30),
    ):
        pass
