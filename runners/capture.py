"""Asks a host and a Python on it for their components: `python -m runners.capture`.

stdin: one JSON question; stdout: one JSON answer. Settings are the runner's, so environments that
it built are found, and a stand-in for the host is used where one is set.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from runners.config import Settings
from runners.devices.device import Device, DeviceInterfaceError, UnknownChipError, device_for
from runners.devices.host import Host
from runners.refusal import wrong
from runners.stacks.environment import Recipe, built
from runners.stacks.facts import StackFacts, stack_facts
from runners.stacks.host import NotOnHostError, host_python
from runners.stacks.measured import ProbeError
from runners.stacks.platform_tree import UnknownPlatformError
from service.domain.layer import Layer
from service.domain.redaction import redacted_text
from service.domain.stack import UNKNOWN, UNKNOWN_PERMISSION, Component, SwapScope
from service.formats.observed_stacks import (
    VERSION_CHARACTERS,
    ObservedAnswer,
    ObservedComponent,
    ObservedQuestion,
)

# What a stack pins of all that a host tells; the rest explains a difference and is recorded.
PINNED = frozenset({"card-firmware", "card-class", "kunlun-driver"})
_DRIVER = ("driver", "peermem", "xdr", "sdk", "c2c", "linux")


def main() -> int:
    """Answer the question on stdin; that nothing is known is an answer as well."""
    try:
        settings = Settings()
        question = ObservedQuestion.model_validate_json(sys.stdin.buffer.read())
    except ValidationError as error:
        return wrong("these settings or this question", error)
    answer = answered(question, cache=settings.cache_dir, variables=os.environ)
    sys.stdout.write(answer.model_dump_json())
    return 0


def answered(
    question: ObservedQuestion, *, cache: Path, variables: Mapping[str, str]
) -> ObservedAnswer:
    """Return what a host has, or why that is not known."""
    try:
        device = device_for(question.chip, Host.of(variables))
        python = _python(question, cache, variables)
        if python is None:
            return ObservedAnswer(unknown="its environment is not built here: name a Python")
        facts = stack_facts(
            python,
            variables=variables,
            imports=question.imports,
            pid=question.pid,
            limit_s=question.limit_s,
        )
    except (
        DeviceInterfaceError,
        NotOnHostError,
        ProbeError,
        UnknownChipError,
        UnknownPlatformError,
    ) as error:
        return ObservedAnswer(unknown=redacted_text(str(error)))
    return _answer(python, device, facts)


def _python(question: ObservedQuestion, cache: Path, variables: Mapping[str, str]) -> Path | None:
    if question.python is not None:
        return host_python(question.python, variables)
    if question.lock is None:
        return None
    found = built(Recipe(question.lock, question.torch, question.platform), cache=cache)
    return None if found is None else found.python


def _answer(python: Path, device: Device, facts: StackFacts) -> ObservedAnswer:
    by_name = {name: _below(name, version) for name, version in device.facts().items()}
    by_name |= {component.name: component for component in facts.components}
    imports = [f"{name} cannot be imported: {why}" for name, why in facts.failed.items()]
    return ObservedAnswer(
        python=str(python),
        components=tuple(_observed(by_name[name]) for name in sorted(by_name)),
        problems=tuple(redacted_text(text) for text in (*device.problems(), *imports)),
    )


def _below(name: str, version: str) -> Component:
    """Return a fact of a device as a component. What could not be seen is never pinned."""
    is_driver = any(word in name for word in _DRIVER)
    in_image = name.startswith("image")
    layer = Layer.RUNTIME if in_image else Layer.DRIVER if is_driver else Layer.DEVICE
    seen = version not in {UNKNOWN, UNKNOWN_PERMISSION}
    scope = SwapScope.CONTAINER if in_image else SwapScope.HOST
    return Component(name, version, layer, scope, recorded=name not in PINNED or not seen)


def _observed(component: Component) -> ObservedComponent:
    return ObservedComponent(
        name=component.name,
        version=redacted_text(component.version)[:VERSION_CHARACTERS],
        layer=component.layer,
        scope=component.scope,
        recorded=component.recorded,
    )


if __name__ == "__main__":
    sys.exit(main())
