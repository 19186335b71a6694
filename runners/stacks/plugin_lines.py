"""What a server's log must show, and must not, for its platform plugin to be wholly in place.

SGLang logs a hook that does not apply and serves on, so a server that answers proves nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from service.domain.known_failure import Recognised
from service.domain.layer import Layer
from service.domain.stack import Stack
from service.formats.known_failures import recognised, remedy_of

# By the plugin's component: what its log shows, one of each row. From sglang-kunlun's and SGLang's
# source (A). They are told at the level INFO, and SGLang 0.5.18 and 0.5.23, seen to start as
# `python -m sglang.launch_server`, tell of plugins before their log shows that level: errors are
# there, successes are not. So a marker is missed only in a log that tells of plugins at all.
MARKERS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "sglang-kunlun": (
            (
                r"Executed general plugin: kunlun_hooks",
                r"sglang-kunlun: \d+ hook modules registered",
                r"Applied \d+ hook\(s\) to .*dist=sglang-kunlun",
            ),
        ),
    }
)
TELLS = re.compile(
    r"Available plugins for group|Loaded plugin |Skipping plugin |OOT platform plugin activated"
)
SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class Complaint:
    """A server that is up with part of its stack missing: the layer, what is seen, what to do."""

    layer: Layer
    finding: str
    remedy: str


def plugins_of(stack: Stack) -> tuple[str, ...]:
    """Return the components of a stack that are its platform plugins."""
    return tuple(
        component.name for component in stack.components if component.layer is Layer.PLUGIN
    )


def complaint(log: str, *, plugins: Sequence[str], expects: Sequence[str]) -> Complaint | None:
    """Return what a log complains of although its server is up, or None.

    log: from its start until the server was up. expects: texts that the stack file asks for.
    A known failure is told before a missing marker: it is why the marker is missing.
    """
    if failed := _failed(log):
        return failed
    told = plugins if TELLS.search(log) else ()
    rows = [row for plugin in told for row in MARKERS.get(plugin, ())]
    absent = [row[0] for row in rows if not any(re.search(sign, log) for sign in row)]
    absent += [text for text in expects if text not in log]
    if not absent:
        return None
    finding = "the server is up, and its log does not show: " + "; ".join(absent)
    remedy = "check that the plugin's entry points are installed and SGLANG_PLUGINS lists its hooks"
    return Complaint(Layer.PLUGIN, finding, remedy)


def _failed(log: str) -> Complaint | None:
    """Return the first known failure that a server survives, with all lines that show one."""
    first: Recognised | None = None
    lines = []
    for line in _spoken(log):
        found = recognised(line, survived=True)
        if found is not None:
            first = first or found
            lines.append(found.line)
    if first is None:
        return None
    shown = list(dict.fromkeys(lines))
    more = [f"and {len(shown) - SHOWN_MAX} more lines"] if len(shown) > SHOWN_MAX else []
    finding = "the server is up, and its log says:\n" + "\n".join(shown[:SHOWN_MAX] + more)
    return Complaint(first.failure.layer, finding, remedy_of(first.line))


def _spoken(log: str) -> list[str]:
    """Return a log's lines without the one of all arguments, whose values hold any word."""
    return [line for line in log.splitlines() if "server_args=" not in line]
