"""A refused allocation: plain shortage told from fragmentation by the allocator's own figures."""

import pytest

from service.domain.allocation import Cause, refusal_in

NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 0 has a total "
    "capacity of 96.00 GiB of which {free} is free. Process 4711 has 90.00 GiB memory in use. Of "
    "the allocated memory 80.00 GiB is allocated by PyTorch, and {held} is reserved by PyTorch but "
    "unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total "
    "capacity; {used} already allocated; 18.94 MiB free; 5.67 GiB reserved in total by PyTorch)"
)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        pytest.param(
            NEW.format(asked="2.00 GiB", free="1.50 GiB", held="512.00 MiB"),
            Cause.FRAGMENTED,
            id="enough in all, in no one piece",
        ),
        pytest.param(
            NEW.format(asked="2.00 GiB", free="1.50 GiB", held="511.00 MiB"),
            Cause.SHORTAGE,
            id="less in all than was asked for",
        ),
        pytest.param(OLD.format(used="5.61 GiB"), Cause.FRAGMENTED, id="the older form"),
        pytest.param(OLD.format(used="5.67 GiB"), Cause.SHORTAGE, id="the older form, all in use"),
        pytest.param("terminate called: std::bad_alloc", Cause.UNTOLD, id="no figures"),
        pytest.param("XPU out of memory. Tried to allocate 2 MiB", Cause.UNTOLD, id="one figure"),
    ],
)
def test_figures_tell_why_an_allocation_was_refused(line: str, cause: Cause) -> None:
    refusal = refusal_in(line)

    assert refusal is not None
    assert refusal.cause is cause


@pytest.mark.parametrize(
    "line",
    [
        "lower --mem-fraction-static to avoid running out of memory",
        "KV cache pool is full. Retract requests. #retracted_reqs: 1",
        "Decode batch, #running-req: 1",
    ],
)
def test_a_line_without_a_refusal_tells_of_none(line: str) -> None:
    assert refusal_in(line) is None
