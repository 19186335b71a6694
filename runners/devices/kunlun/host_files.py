"""What a Kunlun host's own files tell: driver, modules, SDK, and an image's list of versions."""

import os
import re
from collections.abc import Mapping
from hashlib import sha256

from runners.devices.host import Host
from service.domain.key import short
from service.domain.stack import UNKNOWN, UNKNOWN_PERMISSION

DRIVER = "/proc/kunlun/version"
XDR = "/proc/xdr/version"
SDK = "/usr/local/xpu"
VERSIONS = "/versions"
MODULES = "/proc/modules"
CONTROL = "/dev/xpuctrl"
UNSEEN = frozenset({UNKNOWN, UNKNOWN_PERMISSION})

# The vendor's installer takes the tenth field of the line with KUNLUN; its text is not published.
_DRIVER_FIELD = 9
_DOTTED = re.compile(r"\d+(?:\.\d+){1,5}")
_ADDRESS = re.compile(r"([A-Za-z0-9_.-]+)_addr=(\S+)")
_C2C = re.compile(r"C2CHighSpeed=(\S+)")
_MOST_LINES = 200


def host_facts(host: Host) -> Mapping[str, str]:
    """Return versions by component name; what is not to be seen is said to be so."""
    return {
        "kunlun-driver-proc": driver_version(host.text(DRIVER)),
        "kunlun-peermem": _module(host, "kunlun_peermem"),
        "xdr": host.text(XDR).splitlines()[0],
        "host-sdk": host.link(SDK),
        "c2c-high-speed": _c2c(host),
        **image_versions(host.text(VERSIONS)),
    }


def driver_version(text: str) -> str:
    """Return the driver's version in the text of /proc/kunlun/version, or 'unknown'."""
    if text in UNSEEN:
        return text
    for line in text.splitlines():
        fields = line.split()
        if "KUNLUN" in line and len(fields) > _DRIVER_FIELD:
            field = fields[_DRIVER_FIELD]
            return field if _DOTTED.fullmatch(field) else UNKNOWN
    found = _DOTTED.search(text)
    return found[0] if found else UNKNOWN


def image_versions(text: str) -> Mapping[str, str]:
    """Return what an image's /versions names: a digest of it, and the last part of each address.

    The rest of an address is a registry's, and may hold a password.
    """
    if text in UNSEEN:
        return {"image-versions": text}
    found = {}
    for line in text.splitlines()[:_MOST_LINES]:
        if match := _ADDRESS.fullmatch(line.strip()):
            last = match[2].partition("?")[0].rstrip("/").rpartition("/")[2]
            found[f"image-{match[1].lower().replace('_', '-')}"] = last or UNKNOWN
    return {"image-versions": short(sha256(text.encode()).hexdigest()), **found}


def node_problem(host: Host, node: str) -> str | None:
    """Return why a device node cannot be used, or None."""
    path = host.path(node)
    try:
        path.stat()
    except PermissionError:
        return f"{node}: {UNKNOWN_PERMISSION}: the folder it is in cannot be read"
    except OSError:
        return f"{node} is not there: pass it into the container (--device={node})"
    if not os.access(path, os.R_OK | os.W_OK):
        return f"{node} cannot be opened: let this user into the group that owns it"
    return None


def _module(host: Host, name: str) -> str:
    modules = host.text(MODULES)
    if modules in UNSEEN:
        return modules
    loaded = any(line.startswith(f"{name} ") for line in modules.splitlines())
    if not loaded:
        return "not loaded"
    version = host.text(f"/sys/module/{name}/version")
    return "loaded" if version in UNSEEN else version


def _c2c(host: Host) -> str:
    """Return the module option that cards of one class need, as set; its place is inferred."""
    live = host.text("/sys/module/kunlun/parameters/C2CHighSpeed")
    if live != UNKNOWN:
        return live
    for path in sorted(host.path("/etc/modprobe.d").glob("*kunlun*")):
        if match := _C2C.search(host.text(f"/etc/modprobe.d/{path.name}")):
            return f"{match[1]} (modprobe.d)"
    return UNKNOWN
