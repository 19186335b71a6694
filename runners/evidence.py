"""What this host shows of itself: `python -m runners.evidence CHIP`, child of `kunline doctor`.

stdin: texts by name that are to go along; stdout: one JSON document. Nothing is changed and nothing
is started but what only asks: the card tool's five forms. The measured Pythons are left alone here.
Settings are the runner's.
"""

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from runners.config import Settings
from runners.devices.device import DeviceInterfaceError, UnknownChipError, chips, device_for
from runners.devices.host import DeviceError, Host
from runners.devices.kunlun.smi import XpuSmi
from runners.refusal import wrong
from service.domain.redaction import redacted_text
from service.formats.evidence import HostEvidence

FORMS = (("-q",), (), ("-L",), ("-m",), ("topo", "-m"))
FILES = (
    "/proc/kunlun/version",
    "/proc/xdr/version",
    "/proc/modules",
    "/proc/cmdline",
    "/proc/meminfo",
    "/versions",
    "/etc/os-release",
)
LISTED = ("/dev/xpu*", "/usr/local/xpu*", "/usr/local/xre*", "/usr/local/xccl*", "/proc/kunlun/*")
# A shorter host name stands in other words as well.
SHORTEST_NAME = 4
LOGS_KEPT = 3
LOG_BYTES = 2**18
LEAST_FREE_BYTES = 10 * 2**30
# What tells one card or host from all others; each value keeps one name throughout the bundle.
_SERIAL = re.compile(r"^\s*(?:Serial Number|XPU Serial)\s*:\s*(\S+)", re.MULTILINE)
_UNIQUE = (
    ("uuid", re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)),
    ("mac", re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE)),
    # A version such as 5.0.21.47 has the form of an address; one in a private or public network
    # begins with two digits or more.
    ("address", re.compile(r"(?<![\d.])(?!127\.)\d{2,3}(?:\.\d{1,3}){3}(?![\d.])")),
)


def main() -> int:
    """Print what there is to see."""
    try:
        settings = Settings()
    except ValidationError as error:
        return wrong("these settings", error)
    host = Host.of(os.environ)
    amiss = tuple(_amiss(settings))
    given = json.loads(sys.stdin.buffer.read() or b"{}")
    given["amiss.txt"] = "\n".join(filter(None, (given.get("amiss.txt"), *amiss)))
    files = {**dict(_files(sys.argv[1], host, settings)), **given}
    found = HostEvidence(files=_anonymous(files), amiss=amiss)
    sys.stdout.write(found.model_dump_json())
    return 0


def _files(chip: str, host: Host, settings: Settings) -> Iterator[tuple[str, str]]:
    yield "kunline.json", _own(chip, settings)
    yield "device.json", _device(chip, host)
    for form in FORMS:
        yield f"xpu-smi{'-'.join(('', *form)).replace('--', '-')}.txt", _smi(host, *form)
    for name in FILES:
        yield f"host{name.replace('/', '-')}.txt", host.text(name)
    listed = (path for pattern in LISTED for path in host.root.glob(pattern.lstrip("/")))
    yield "host-paths.txt", "\n".join(sorted(_listed(path, host.root) for path in listed))
    launches = settings.cache_dir / "launches"
    logs = sorted(launches.glob("*/server.log"), key=lambda path: path.stat().st_mtime)
    for number, log in enumerate(reversed(logs[-LOGS_KEPT:])):
        yield f"server-{number}.log", _end(log)


def _own(chip: str, settings: Settings) -> str:
    variables = sorted(
        name for name in os.environ if name.startswith(("KUNLINE_", "XPU_", "BKCL_"))
    )
    own = {
        "kunline": version("kunline"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "chip": chip,
        "devices": chips(),
        "settings": json.loads(settings.model_dump_json()),
        "variables_that_are_set": variables,
    }
    return json.dumps(own, indent=2)


def _device(chip: str, host: Host) -> str:
    """Return what the device makes of its host, so that it can be held against what was printed."""
    try:
        device = device_for(chip, host)
        facts: Mapping[str, object] = device.facts()
        cards = [str(card) for card in device.cards()]
        samples = [str(sample) for sample in device.samples()]
        made = {"facts": facts, "problems": device.problems(), "cards": cards, "samples": samples}
        return json.dumps(made, indent=2)
    except (DeviceError, DeviceInterfaceError, UnknownChipError) as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"}, indent=2)


def _smi(host: Host, *words: str) -> str:
    try:
        return XpuSmi(host).said(*words)
    except DeviceError as error:
        return f"{type(error).__name__}: {error}\n"


def _listed(path: Path, root: Path) -> str:
    mode = path.lstat()
    return f"{mode.st_mode:o} {mode.st_uid}:{mode.st_gid} /{path.relative_to(root)}"


def _end(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - LOG_BYTES))
        return stream.read().decode(errors="replace")


def _anonymous(files: Mapping[str, str]) -> dict[str, str]:
    """Return texts without secrets, and with made-up names for what is unique."""
    serials = {serial for text in files.values() for serial in _SERIAL.findall(text)}
    return {name: _renamed(redacted_text(text), serials) for name, text in files.items()}


def _renamed(text: str, serials: set[str]) -> str:
    for serial in sorted(serials, key=len, reverse=True):
        text = text.replace(serial, _name("serial", serial))
    for kind, pattern in _UNIQUE:
        text = pattern.sub(lambda found, of=kind: _name(of, found[0]), text)  # type: ignore[misc]
    node = platform.node()
    return text.replace(node, "<host>") if len(node) >= SHORTEST_NAME else text


def _name(kind: str, value: str) -> str:
    """Return the name that a value has throughout: the same for all spellings in case."""
    return f"<{kind} {sha256(value.lower().encode()).hexdigest()[:8]}>"


def _amiss(settings: Settings) -> Iterator[str]:
    place = next(
        path for path in (settings.cache_dir, *settings.cache_dir.parents) if path.exists()
    )
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE_BYTES:
        yield (
            f"{free / 2**30:.0f} GiB are free at {place}, and an environment takes some: make room "
            "or set KUNLINE_CACHE_DIR"
        )
    for folder in (settings.cache_dir, settings.spool_dir, settings.lock_dir):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        if not os.access(there, os.W_OK):
            yield f"{folder} cannot be written to: give it to the user who runs the runner"


if __name__ == "__main__":
    sys.exit(main())
