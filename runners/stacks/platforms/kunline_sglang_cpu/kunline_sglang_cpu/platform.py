"""The plain-PyTorch CPU as SGLang's platform interface of 0.5.23 asks for it."""

import psutil
from sglang.srt.platforms.device_mixin import PlatformEnum
from sglang.srt.platforms.interface import SRTPlatform


class CpuPlatform(SRTPlatform):
    """Native forwards, torch_native attention, gloo. What it leaves out is the in-tree default.

    The interface's capabilities default to none at all, which is right for eager PyTorch.
    """

    _enum = PlatformEnum.OOT
    device_name = "cpu"
    device_type = "cpu"

    def get_device_total_memory(self, device_id: int = 0) -> int:
        """Return the host's memory in bytes: every rank shares it."""
        return psutil.virtual_memory().total

    def get_current_memory_usage(self, device=None) -> float:
        """Return the bytes of the host's memory that are in use."""
        memory = psutil.virtual_memory()
        return float(memory.total - memory.available)

    def get_available_memory(self, device_id: int = 0) -> tuple[int, int]:
        """Return free and total bytes."""
        memory = psutil.virtual_memory()
        return memory.available, memory.total

    def get_device(self, device_id: int = 0) -> str:
        """Return the one CPU device, whatever the rank."""
        return "cpu"

    def set_device(self, device) -> None:
        """Do nothing: there is one device."""

    def get_device_name(self, device_id: int = 0) -> str:
        """Return the device's name."""
        return "cpu"

    def get_device_uuid(self, device_id: int = 0) -> str:
        """Return a name that is the same on every rank, as they share the device."""
        return "cpu"

    def get_device_capability(self, device_id: int = 0) -> None:
        """Return None: compute capabilities are an accelerator's."""
        return

    def get_torch_distributed_backend_str(self) -> str:
        """Return the only backend of torch.distributed that needs no accelerator."""
        return "gloo"

    def get_default_attention_backend(self) -> str:
        """Return the attention that is written in PyTorch alone."""
        return "torch_native"

    def get_dispatch_key_name(self) -> str:
        """Return the key of the forwards that are written in PyTorch alone."""
        return "native"
