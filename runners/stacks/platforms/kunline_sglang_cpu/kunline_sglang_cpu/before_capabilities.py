"""The plain-PyTorch CPU as SGLang's platform interface of 0.5.18 asks for it.

That interface has no way to say "the in-tree class": each class must be named.
"""

from kunline_sglang_cpu import platform


class CpuPlatform(platform.CpuPlatform):
    """Names the in-tree classes, which allocate on any torch device."""

    def get_mha_kv_pool_cls(self) -> type:
        """Return the in-tree pool of multi-head attention."""
        from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

        return MHATokenToKVPool

    def get_mla_kv_pool_cls(self) -> type:
        """Return the in-tree pool of multi-head latent attention."""
        from sglang.srt.mem_cache.memory_pool import MLATokenToKVPool

        return MLATokenToKVPool

    def get_paged_allocator_cls(self) -> type:
        """Return the in-tree allocator of pages."""
        from sglang.srt.mem_cache.allocator import PagedTokenToKVPoolAllocator

        return PagedTokenToKVPoolAllocator
