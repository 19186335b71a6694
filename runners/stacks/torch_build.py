"""Which build of torch pip's own configuration would serve: read from pip's report."""

import re
from dataclasses import dataclass
from typing import Any

# What a torch built for an accelerator asks for beside itself.
_ACCELERATOR = re.compile(
    r"^(nvidia|cuda|pytorch-triton-rocm|triton-rocm|pytorch-triton-xpu|intel)"
)

# What pip says when it fetches a wheel whole, and not its metadata alone.
_FETCHED = re.compile(r"Downloading (?:\S*/)?(torch-\S+\.whl) \(")
_CPU_LABELS = ("+cpu", "%2Bcpu")


class UnreadableReportError(ValueError):
    """Pip's report is not of the shape that its documentation describes."""


@dataclass(frozen=True, slots=True)
class TorchOffer:
    """One build of torch that pip would install: its version, address, hash and needs.

    sha256: None where the index states none. requires: names of what it asks for.
    unlabelled: it is an index's wheel that does not call itself a CPU build, and nobody looked in.
    """

    version: str
    url: str
    sha256: str | None
    requires: tuple[str, ...]
    unlabelled: bool = False

    @property
    def accelerator(self) -> str | None:
        """What says that this is an accelerator's build, or None for a CPU build."""
        if self.unlabelled:
            return "is an index's wheel without the label +cpu"
        label = self.version.partition("+")[2]
        if label and not label.startswith("cpu"):
            return f"label +{label}"
        needs = [name for name in self.requires if _ACCELERATOR.match(name)]
        return f"needs {needs[0]}" if needs else None


def unlabelled_wheel(said: str) -> str | None:
    """Return the torch wheel that pip began to fetch whole, unless it calls itself a CPU build.

    An index without separate metadata makes pip fetch a wheel to look into it: half a gigabyte
    of an accelerator's build, for an answer that its name gives.
    """
    found = _FETCHED.search(said)
    if found is None or any(label in found[1] for label in _CPU_LABELS):
        return None
    return found[1]


def torch_offer(report: dict[str, Any]) -> TorchOffer:
    """Return the torch in a report of 'pip install --dry-run --report'.

    Raises UnreadableReportError when there is none in it. Source: pip's "Installation Report"
    reference, version 1.
    """
    try:
        for item in report["install"]:
            if item["metadata"]["name"].lower() == "torch":
                return _offer(item)
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableReportError(f"pip's report lacks {error}") from error
    raise UnreadableReportError("pip's report holds no torch")


def _offer(item: dict[str, Any]) -> TorchOffer:
    download = item["download_info"]
    hashes = download.get("archive_info", {}).get("hashes", {})
    names = [
        re.split(r"[^A-Za-z0-9._-]", requirement.strip(), maxsplit=1)[0].lower()
        for requirement in item["metadata"].get("requires_dist", ())
        if "extra ==" not in requirement
    ]
    return TorchOffer(
        version=item["metadata"]["version"],
        url=download["url"],
        sha256=hashes.get("sha256"),
        requires=tuple(names),
    )
