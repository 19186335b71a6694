"""How much hosts differ that run one stack: the part of the noise that no comparison meets.

The model of a launch's mean on the log scale is level of the stack + host + launch. A comparison
stays on one host, so the host is never in its error; what it tells is why numbers of two hosts
are not held to one another, and how much a move to another host may change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

# Launches of one stack by their host: the mean of the logarithms of each launch's values.
ByHost = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class HostsApart:
    """The variance between hosts of log values, and how many hosts beyond one tell it."""

    variance: float
    freedom: int


def hosts_apart(stacks: Sequence[ByHost]) -> HostsApart:
    """Return how much hosts differ, over stacks that are never held to one another.

    One-way analysis of variance of each stack's launches by host, the stacks' sums added: squares
    between hosts less what launches of one host explain, over how often the host's variance is in
    their expectation (Searle, Casella & McCulloch, "Variance Components", 1992, chapter 3). A
    variance below zero is taken as zero. freedom is 0 where no stack ran on two hosts, or no host
    ran a stack twice, since nothing then tells hosts from launches.
    """
    between = within = times = 0.0
    hosts = launches = 0
    for by_host in stacks:
        values = [found for found in by_host.values() if found]
        if len(values) <= 1:
            continue
        counts = [len(found) for found in values]
        means = [fmean(found) for found in values]
        level = fmean(value for found in values for value in found)
        between += sum(
            count * (mean - level) ** 2 for count, mean in zip(counts, means, strict=True)
        )
        within += sum(
            (value - mean) ** 2
            for found, mean in zip(values, means, strict=True)
            for value in found
        )
        times += sum(counts) - sum(count * count for count in counts) / sum(counts)
        hosts += len(values) - 1
        launches += sum(counts) - len(values)
    if hosts == 0 or launches == 0:
        return HostsApart(0.0, 0)
    return HostsApart(max(0.0, (between - hosts * within / launches) / times), hosts)
