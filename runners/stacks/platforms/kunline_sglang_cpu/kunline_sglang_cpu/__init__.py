"""The entry point by which SGLang finds the plain-PyTorch CPU platform."""

INTERFACE_VERSION = 1


def activate():
    """Return the platform class that fits this SGLang, or None where an accelerator is present."""
    import torch
    from sglang.srt.platforms.interface import SRTPlatform

    if torch.cuda.is_available():
        return None
    if hasattr(SRTPlatform, "get_kv_pool_cls"):
        return "kunline_sglang_cpu.platform:CpuPlatform"
    return "kunline_sglang_cpu.before_capabilities:CpuPlatform"
