"""What variables of a Kunlun server may say: wrong ones crash a library, or are silently ignored.

Each rule has its source in a vendor's documents (A), an issue (D) or a field report (C).
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

VISIBLE = ("CUDA_VISIBLE_DEVICES", "XPU_VISIBLE_DEVICES")
LAUNCHER = "sglang-kunlun-launch"
PLATFORM = "SGLANG_PLATFORM"
PLUGINS = "SGLANG_PLUGINS"

# A rule returns what is wrong with a value, or None.
_Rule = Callable[[str], str | None]


def _whole(why: str) -> _Rule:
    return lambda value: None if re.fullmatch(r"-?\d+", value) else f"must be a whole number: {why}"


def _one_of(*words: str, why: str) -> _Rule:
    listed = " or ".join(repr(word) for word in words)
    return lambda value: None if value in words else f"must be {listed}: {why}"


def _truth(value: str) -> str | None:
    words = {"0", "1", "true", "false", "yes", "no"}
    return None if value.lower() in words else "must be true or false, or 1 or 0"


def _never(why: str) -> _Rule:
    return lambda _: f"must not be set: {why}"


def _cards(value: str) -> str | None:
    listed = re.fullmatch(r"\d+(,\d+)*", value) is not None
    numbers = value.split(",")
    if not listed or len(set(numbers)) != len(numbers):
        return "must be card numbers with commas between them, each once: '0,1'"
    return None


_STOI = "the library reads it with std::stoi, and a word crashes the first collective (C)"
_INT = "torch_xmlir reads it with int(), and a word raises at import (A)"
_NUMBER = "the library reads a number (B)"

_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        "BKCL_DEBUG": _whole(_STOI),
        "BKCL_TIMEOUT": _whole(_NUMBER),
        "BKCL_RING_BUFFER_SIZE": _whole(_NUMBER),
        "BKCL_TREE_THRESHOLD": _whole(_NUMBER),
        "BKCL_GID_INDEX": _whole(_NUMBER),
        "BKCL_CHECK_AW": _one_of("0", "1", why="'false' is not '0' to it (D, vLLM-Kunlun 420)"),
        "XMLIR_FORCE_USE_XPU_GRAPH": _whole(_INT),
        "XMLIR_ENABLE_LINEAR_FC_FUSION": _whole(_INT),
        "XMLIR_USE_HYDRA_LINEAR": _one_of("0", "1", why="only '1' counts as yes (A)"),
        "XMLIR_ENABLE_MOCK_TORCH_COMPILE": _truth,
        "XMLIR_DISABLE_CUDA_ALLOCATOR": _one_of(
            "0", why="anything else points torch's memory calls at missing symbols (A)"
        ),
        "XPU_RUN_MODE": _never("it writes hardware registers of all cards of the host (A)"),
        "XPU_DUMMY_EVENT": _never("events would tell no time (A)"),
        "XPURT_DISPATCH_MODE": _never("profiling slows a server by more than 15 % (A)"),
        "XPUAPI_DEBUG": _never("it traces every call, so nothing measured with it counts (A)"),
        "XPU_USE_MOE_SORTED_THRES": _whole(_NUMBER),
        "USE_FAST_ALLOC_EXTEND_KUNLUN": _one_of(
            "0", "1", why="anything but '0', 'False' as well, means yes (C)"
        ),
        "SGLANG_IS_FLASHINFER_AVAILABLE": _truth,
        "SGLANG_SKIP_SGL_KERNEL_VERSION_CHECK": _truth,
        "SGLANG_SET_CPU_AFFINITY": _truth,
        "SGLANG_USE_XPU": _truth,
        "SGLANG_HEALTH_CHECK_TIMEOUT": _whole("seconds (A)"),
        "XCCL_SO_PATH": _never("a left-over of another project that nothing reads (A)"),
        "KUNLUN_HOME_PATH": _never("a left-over of another project that nothing reads (A)"),
        **dict.fromkeys(VISIBLE, _cards),
    }
)


def environment_problems(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return what is wrong with a server's variables, by name; nothing where all is well."""
    found = {
        name: problem
        for name, value in environment.items()
        if (rule := _RULES.get(name)) is not None and (problem := rule(value)) is not None
    }
    given = [environment.get(name) for name in VISIBLE]
    if given[0] != given[1]:
        other = " and ".join(VISIBLE)
        named = next(name for name in VISIBLE if name in environment)
        why = "torch sees the one and tools the other"
        found.setdefault(named, f"{other} must be set alike, or both left out: {why}")
    return found


def launch_problems(program: str | None, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return what is wrong with a stack's variables under the program that starts its server."""
    found = {}
    if program == LAUNCHER and PLATFORM in environment:
        found[PLATFORM] = (
            f"{LAUNCHER} sets it after it has imported torch; set before, it can corrupt the "
            "allocator (A): leave it out"
        )
    if PLUGINS in environment and PLATFORM not in environment and program != LAUNCHER:
        found[PLUGINS] = f"it leaves out platforms as well: name one with {PLATFORM} (A)"
    return found
