"""Which layer of the stack a dead server's log suggests."""

import re

from service.domain.layer import Layer
from service.formats.known_failures import recognised

# The first pattern found anywhere in the log's tail decides, so the narrow ones stand first.
_SIGNS = tuple(
    (re.compile(pattern, re.IGNORECASE), layer)
    for layer, pattern in (
        (Layer.PLUGIN, r"no platform plugin|platform plugins? .*(fail|error|conflict)"),
        (Layer.PLUGIN, r"No module named '(sgl_kernel|vllm|sglang_kunlun|kunline_sglang_cpu)"),
        (Layer.RUNTIME, r"undefined symbol|cannot open shared object file|GLIBC"),
        (Layer.PACKAGES, r"ModuleNotFoundError|ImportError|PackageNotFoundError"),
        (Layer.CAPACITY, r"not enough memory.*mem-fraction-static|increase --mem-fraction-static"),
        (Layer.MEMORY, r"out of memory|MemoryError|Cannot allocate memory|bad_alloc"),
        (Layer.COLLECTIVES, r"gloo|nccl|xccl|init_process_group|ranks.*numa|ProcessGroup"),
        (Layer.WEIGHTS, r"safetensor|load_weights|config\.json|does not appear to have a file"),
    )
)


def suggested_layer(tail: str) -> Layer:
    """Return the layer that the end of a server's log points at; 'server' where nothing does.

    The table of known failures is asked first, then the signs of any failure.
    It is a suggestion to a person: preflight's own checks of a layer say more.
    """
    text = complaint(tail)
    if found := recognised(text):
        return found.failure.layer
    for sign, layer in _SIGNS:
        if sign.search(text):
            return layer
    return Layer.SERVER


def complaint(tail: str) -> str:
    """Return what follows the first traceback, if there is one, and never the list of arguments.

    A server prints all its arguments at its start, and their names hold every word looked for.
    """
    lines = [line for line in tail.splitlines() if "server_args=" not in line]
    for number, line in enumerate(lines):
        if "Traceback (most recent call last)" in line:
            return "\n".join(lines[number:])
    return "\n".join(lines)
