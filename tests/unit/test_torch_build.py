"""A CPU build of torch is told from an accelerator's by what pip reports of it."""

from typing import Any

import pytest

from runners.stacks.torch_build import (
    TorchOffer,
    UnreadableReportError,
    torch_offer,
    unlabelled_wheel,
)

SHA = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
PLAIN = [
    "filelock",
    "typing-extensions>=4.10.0",
    "sympy>=1.13.3",
    'optree>=0.13; extra == "optree"',
]
CUDA = [
    "filelock",
    'cuda-toolkit[cublas,cudart]==13.0.3; platform_system == "Linux"',
    'nvidia-cudnn-cu13==9.20.0.48; platform_system == "Linux"',
    'triton==3.7.1; platform_system == "Linux"',
]


def report(version: str, requires: list[str]) -> dict[str, Any]:
    return {
        "version": "1",
        "pip_version": "23.2.1",
        "install": [
            {
                "download_info": {
                    "url": f"https://wheels.invalid/torch-{version}-cp311-cp311-linux_x86_64.whl",
                    "archive_info": {"hash": f"sha256={SHA}", "hashes": {"sha256": SHA}},
                },
                "is_direct": False,
                "metadata": {"name": "torch", "version": version, "requires_dist": requires},
            }
        ],
    }


@pytest.mark.parametrize(
    ("version", "requires", "accelerator"),
    [
        pytest.param("2.13.0+cpu", PLAIN, None, id="labelled as CPU"),
        pytest.param("2.13.0", PLAIN, None, id="no label, asks for nothing of an accelerator"),
        pytest.param("2.13.0", CUDA, "needs cuda-toolkit", id="no label, asks for CUDA"),
        pytest.param("2.13.0", ["nvidia-nccl-cu13"], "needs nvidia-nccl-cu13", id="asks for NCCL"),
        pytest.param("2.13.0+cu130", PLAIN, "label +cu130", id="labelled as CUDA"),
        pytest.param("2.13.0+rocm7.0", PLAIN, "label +rocm7.0", id="labelled as ROCm"),
        pytest.param("2.13.0", ['nvidia-x; extra == "gpu"'], None, id="CUDA as an extra alone"),
    ],
)
def test_an_accelerators_build_says_so(
    version: str, requires: list[str], accelerator: str | None
) -> None:
    assert torch_offer(report(version, requires)).accelerator == accelerator


@pytest.mark.parametrize(
    ("said", "wheel"),
    [
        pytest.param(
            "Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (526.6 MB)",
            "torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            id="a whole wheel of an index",
        ),
        pytest.param(
            "Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (29 kB)",
            None,
            id="its metadata alone",
        ),
        pytest.param(
            "Downloading https://wheels.example/torch-2.13.0%2Bcpu-cp311-cp311-linux.whl (180 MB)",
            None,
            id="a CPU build by its name",
        ),
        pytest.param("Downloading networkx-3.6-py3-none-any.whl (2 MB)", None, id="another"),
        pytest.param("asking pip for torch 2.13.0", None, id="no download"),
    ],
)
def test_a_wheel_that_is_no_cpu_build_by_its_name_is_not_fetched_to_look_into_it(
    said: str, wheel: str | None
) -> None:
    assert unlabelled_wheel(said) == wheel


def test_a_wheel_that_nobody_looked_into_is_taken_for_an_accelerators() -> None:
    offer = TorchOffer("2.13.0", "torch-2.13.0.whl", None, (), unlabelled=True)

    assert offer.accelerator == "is an index's wheel without the label +cpu"


def test_an_offer_has_the_address_and_the_hash_of_the_wheel() -> None:
    offer = torch_offer(report("2.13.0+cpu", PLAIN))

    assert offer.url.endswith("torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl")
    assert offer.sha256 == SHA


def test_an_index_without_hashes_is_no_obstacle() -> None:
    without = report("2.13.0+cpu", PLAIN)
    without["install"][0]["download_info"]["archive_info"] = {}

    assert torch_offer(without).sha256 is None


@pytest.mark.parametrize(
    "unreadable",
    [
        pytest.param({"install": []}, id="nothing to install"),
        pytest.param({}, id="no list"),
        pytest.param({"install": [{"metadata": {"name": "torch"}}]}, id="no address"),
    ],
)
def test_a_report_without_torch_is_an_error(unreadable: dict[str, Any]) -> None:
    with pytest.raises(UnreadableReportError):
        torch_offer(unreadable)
