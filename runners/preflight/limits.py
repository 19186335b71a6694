"""What the checks hold a host to that nobody has published, so that a site may know better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runners.preflight.layers import Check

# A card without load that is as hot has no cooling. Published idle samples show 35 to 46 C (grade
# B); where it begins to slow down is not public (guessed).
REST_C = 80.0
# A tenth of the least that was published for two of these cards (28.3 GB/s, grade C): slower than
# that is no matter of tuning (inferred).
LINK_BYTES_S: Mapping[str, float] = {"kunlun": 2.8e9}


@dataclass(frozen=True, slots=True)
class HostLimits:
    """The limits of one host.

    rest_c: degrees Celsius from which on a card without load is too hot, where it tells no limit.
    link_bytes_s: the least bandwidth of collectives, None for the chip's own. patience: by how much
    every layer's limit is multiplied.
    """

    rest_c: float = REST_C
    link_bytes_s: float | None = None
    patience: float = 1.0

    def least_bytes_s(self, chip: str) -> float:
        """Return the least bandwidth between cards of a chip, in bytes per second."""
        return LINK_BYTES_S.get(chip, 0.0) if self.link_bytes_s is None else self.link_bytes_s

    def given(self, checks: Sequence[Check]) -> tuple[Check, ...]:
        """Return checks with as much time as this host's patience gives them."""
        return tuple(replace(check, limit_s=check.limit_s * self.patience) for check in checks)
