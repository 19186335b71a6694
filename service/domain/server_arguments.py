"""Server arguments as identities hold them: normalised, order-free, without what is only local."""

from collections.abc import Collection, Mapping
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

# One flag, two spellings that a parser takes alike: the other one, and the name we keep.
# Read off the parsers of SGLang 0.5.18 and 0.5.23.
_SPELLINGS = {
    "tp": "tp-size",
    "tensor-parallel-size": "tp-size",
    "pp": "pp-size",
    "pipeline-parallel-size": "pp-size",
    "dp": "dp-size",
    "data-parallel-size": "dp-size",
    "ep": "ep-size",
    "expert-parallel-size": "ep-size",
    "attention-context-parallel-size": "attn-cp-size",
    "attention-data-parallel-size": "attn-dp-size",
    "decode-context-parallel-size": "dcp-size",
    "moe-data-parallel-size": "moe-dp-size",
    "nccl-init-addr": "dist-init-addr",
    "speculative-draft-model": "speculative-draft-model-path",
    "hierarchical-sparse-attention-extra-config": "hisparse-config",
    "grpc-http-sidecar-port": "smg-http-sidecar-port",
    "enable-hicache": "enable-hierarchical-cache",
    "context-bucket": "cuda-graph-prefill-max-context",
    "enable-ep-moe": "ep-moe",
    "mem-fraction": "mem-fraction-static",
}
# One flag, renamed from one release to another with its meaning and its values unchanged: the
# older name, and the one we keep. A flag that became another one with a value of its own
# (--disable-piecewise-cuda-graph) is not among them.
RENAMED = MappingProxyType(
    {
        # With the graph settings in 0.5.14; the older names are gone by 0.5.23.
        "cuda-graph-max-bs": "cuda-graph-max-bs-decode",
        "cuda-graph-bs": "cuda-graph-bs-decode",
        "piecewise-cuda-graph-tokens": "cuda-graph-bs-prefill",
        "piecewise-cuda-graph-max-tokens": "cuda-graph-max-bs-prefill",
        "piecewise-cuda-graph-compiler": "cuda-graph-tc-compiler",
        # Deprecated aliases in 0.5.18, gone by 0.5.23.
        "nsa-prefill-backend": "dsa-prefill-backend",
        "nsa-decode-backend": "dsa-decode-backend",
        "mamba-scheduler-strategy": "mamba-radix-cache-strategy",
        "speculative-dflash-draft-window-size": "speculative-draft-window-size",
        "stream-output": "incremental-streaming-output",
        "enable-gdn-replayssm-spec": "enable-linear-replayssm-spec",
    }
)
ALIASES = MappingProxyType({**_SPELLINGS, **RENAMED})


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


def spelled(arguments: Arguments, known: Collection[str]) -> Arguments:
    """Return arguments under names that a release's parser knows, where it knows another name.

    known: every spelling that the parser takes, without dashes. A name that it knows stays, and so
    does one that it knows under no name at all: the server itself says best what it does not take.
    """
    return {_spelling(name, known): value for name, value in arguments.items()}


def _spelling(name: str, known: Collection[str]) -> str:
    if name in known:
        return name
    others = (settled_name(name), *(old for old, kept in ALIASES.items() if kept == name))
    return next((other for other in others if other in known), name)


def has_other_names(arguments: Arguments) -> bool:
    """Return whether any of the flags has another name in some release."""
    return any(settled_name(name) in RENAMED.values() for name in arguments)


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
