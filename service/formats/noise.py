"""Noise as the API answers it: spreads as ratios, with what stands behind them."""

import math
from collections.abc import Mapping, Sequence
from typing import Self
from uuid import UUID

from pydantic import NonNegativeFloat, NonNegativeInt

from service.domain.cell import Cell
from service.domain.noise import Noise
from service.formats.identities import Key
from service.formats.messages import Message
from service.stats.hosts import HostsApart
from service.stats.variance import Components, Estimate


class Spread(Message):
    """Standard deviation of one part of the noise, as a ratio, and its degrees of freedom."""

    spread: NonNegativeFloat
    freedom: NonNegativeFloat


class NoiseRead(Message):
    """What is known of the noise of one metric in a cell on a host.

    launch, seed, residual: of log values, which for a few percent is of ratios; residual.freedom
    is 0 where the residual is part of the launch. launches, sessions, run_ids: what it rests on.
    hosts: between all hosts that measured the cell under one stack; its freedom is 0 where one host
    alone did. No comparison meets it, since each stays on one host.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    metric: str
    host: str
    launch: Spread
    seed: Spread
    residual: Spread
    hosts: Spread = Spread(spread=0.0, freedom=0.0)
    launches: NonNegativeInt
    sessions: tuple[UUID, ...]
    run_ids: tuple[UUID, ...]

    @classmethod
    def of(
        cls,
        cell: Cell,
        noise: Noise,
        title: str,
        told_by: Mapping[UUID, Sequence[UUID]],
        *,
        apart: HostsApart | None = None,
    ) -> Self:
        """Return noise as it is answered. told_by: runs by the session they are of."""
        found, parts = noise.estimate, noise.estimate.components
        return cls(
            condition_key=cell.condition_key,
            protocol_key=cell.protocol_key,
            title=title,
            metric=noise.metric,
            host=noise.host,
            launch=Spread(spread=math.sqrt(parts.launch), freedom=found.launch_freedom),
            seed=Spread(spread=math.sqrt(parts.seed), freedom=found.seed_freedom),
            residual=Spread(spread=math.sqrt(parts.residual), freedom=found.residual_freedom),
            hosts=_hosts(apart),
            launches=noise.launches,
            sessions=tuple(told_by),
            run_ids=tuple(run_id for runs in told_by.values() for run_id in runs),
        )

    def noise(self) -> Noise:
        """Return it as the rules take it."""
        return Noise(
            metric=self.metric,
            host=self.host,
            estimate=Estimate(
                Components(self.launch.spread**2, self.seed.spread**2, self.residual.spread**2),
                self.launch.freedom,
                self.seed.freedom,
                self.residual.freedom,
            ),
            launches=self.launches,
            sessions=len(self.sessions),
        )


def _hosts(apart: HostsApart | None) -> Spread:
    if apart is None:
        return Spread(spread=0.0, freedom=0.0)
    return Spread(spread=math.sqrt(apart.variance), freedom=apart.freedom)
