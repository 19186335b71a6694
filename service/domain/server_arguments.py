"""Server arguments as identities hold them: normalised, order-free, without what is only local."""

from collections.abc import Mapping
from types import MappingProxyType

Argument = bool | int | float | str
Arguments = Mapping[str, Argument]

# Where a process listens, what it is called and where its files lie say nothing of its speed.
LOCAL = frozenset(
    {
        "host",
        "port",
        "nccl-port",
        "dist-init-addr",
        "model-path",
        "model",
        "tokenizer-path",
        "served-model-name",
        "random-seed",
        "log-level",
        "log-level-http",
        "api-key",
        "admin-api-key",
        "file-storage-path",
        "download-dir",
    }
)

# One flag, two names: the key is what an older or shorter spelling is, the value the name we keep.
ALIASES = MappingProxyType(
    {
        "tp": "tp-size",
        "tensor-parallel-size": "tp-size",
        "pp": "pp-size",
        "pipeline-parallel-size": "pp-size",
        "dp": "dp-size",
        "data-parallel-size": "dp-size",
        "ep": "ep-size",
        "expert-parallel-size": "ep-size",
        "enable-ep-moe": "ep-moe",
        "mem-fraction": "mem-fraction-static",
    }
)


class ServerArgumentError(ValueError):
    """A server argument cannot stand in an identity."""


def normalised(arguments: Arguments) -> Arguments:
    """Return arguments under their settled names, sorted, without local and switched-off ones.

    arguments: flag name (with or without leading dashes, underscores or hyphens) to value;
    a flag that takes no value is True, and False means it is not given.
    Raises ServerArgumentError when one flag is given twice with different values.
    """
    settled: dict[str, Argument] = {}
    for given, value in arguments.items():
        name = settled_name(given)
        if name in LOCAL or value is False:
            continue
        if name in settled and settled[name] != value:
            raise ServerArgumentError(f"--{name} is given twice: {settled[name]!r} and {value!r}")
        settled[name] = value
    return dict(sorted(settled.items()))


def settled_name(flag: str) -> str:
    """Return the one name of a flag: no dashes in front, hyphens inside, aliases resolved."""
    name = flag.lstrip("-").replace("_", "-")
    return ALIASES.get(name, name)


def command_line(arguments: Arguments) -> list[str]:
    """Return arguments as a server takes them: ['--page-size', '64', '--sleep-on-idle']."""
    words: list[str] = []
    for name, value in sorted(arguments.items()):
        if value is False:
            continue
        words.append(f"--{name}")
        if value is not True:
            words.append(str(value))
    return words
