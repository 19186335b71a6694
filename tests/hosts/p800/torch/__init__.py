"""Emulated torch of a P800 host: no kernel, no card. Grade: inferred from what CUDA's torch does.

A tensor is a ramp: value i is scale * (i modulo m) + offset, which is all that Kunline's probes
ask of one. The faults of the host make it wrong in the way in which a card would be.
"""

import time
from typing import Any

from emulated_host import FAULTS, here
from torch import cuda as cuda
from torch import distributed as distributed

__version__ = "2.9.0+cu129"
float32, bfloat16, int32, uint8 = "float32", "bfloat16", "int32", "uint8"


class Tensor:
    """A ramp. rows: how often it is repeated below itself."""

    def __init__(
        self,
        length: int,
        *,
        scale: float = 0.0,
        offset: float = 0.0,
        modulo: int = 0,
        rows: int = 0,
    ) -> None:
        self.length, self.scale, self.offset = length, scale, offset
        self.modulo, self.rows = modulo, rows

    def _like(self, **changed: Any) -> "Tensor":
        fields = {"scale": self.scale, "offset": self.offset, "modulo": self.modulo}
        return Tensor(self.length, **{**fields, "rows": self.rows, **changed})

    def key(self) -> tuple[float, ...]:
        return (self.length, self.scale, self.offset, self.modulo, self.rows)

    def to(self, _where: Any, copy: bool = False) -> "Tensor":
        return self._like()

    def clone(self) -> "Tensor":
        """Return a copy on the card, which is where a bad one loses a bit."""
        return self._like(offset=self.offset + (f"corrupt:{here()}" in FAULTS))

    def remainder(self, modulo: int) -> "Tensor":
        return self._like(modulo=modulo)

    def repeat(self, rows: int, _columns: int) -> "Tensor":
        return self._like(rows=rows)

    def copy_(self, other: "Tensor") -> None:
        self.scale, self.offset, self.modulo = other.scale, other.offset, other.modulo

    def __mul__(self, factor: float) -> "Tensor":
        return self._like(scale=self.scale * factor, offset=self.offset * factor)

    def __matmul__(self, other: "Tensor") -> "Tensor":
        """Return the product with a multiple of the unit matrix, which is all that is asked."""
        if f"hung:{here()}" in FAULTS:
            time.sleep(3600)
        product = self * other.offset
        if "stale-graph" not in FAULTS:
            cuda.recorded(lambda: product.copy_(self * other.offset))
        return product

    def __getitem__(self, place: int) -> "Tensor":
        return self._like(rows=0)

    def item(self) -> float:
        return self.offset

    def tolist(self) -> list[float]:
        return [self.scale * i + self.offset for i in range(3)]


def arange(length: int, dtype: str = float32) -> Tensor:
    return Tensor(length, scale=1.0)


def zeros(length: int, dtype: str = float32) -> Tensor:
    return Tensor(length)


def full(shape: tuple[int], value: float, dtype: str = float32) -> Tensor:
    return Tensor(shape[0], offset=float(value))


def empty(length: int, dtype: str = float32, device: str = "cpu") -> Tensor:
    return Tensor(length)


def eye(length: int) -> Tensor:
    return Tensor(length, offset=1.0)


def equal(one: Tensor, other: Tensor) -> bool:
    return one.key() == other.key()
