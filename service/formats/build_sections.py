"""How a matrix file says that an environment is built."""

from typing import Literal

from service.formats.identities import BuildOrder
from service.formats.lock_files import Lock
from service.formats.messages import Message


class BuildSection(Message):
    """A virtual environment from a hashed lock.

    lock: the lock's path, seen from the file that names it. torch: the release taken as the build
    for this chip; without it the lock pins torch. platform: a plugin that the runner brings.
    """

    kind: Literal["venv"]
    lock: str
    torch: str | None = None
    platform: str | None = None

    def order(self, lock: Lock) -> BuildOrder:
        """Return the build as a runner is asked for it."""
        return BuildOrder(lock=lock.digest, torch=self.torch, platform=self.platform)
